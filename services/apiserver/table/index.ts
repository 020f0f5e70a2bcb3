export { toTable } from './to-table.ts'
export type { Table, TableOptions } from './to-table.ts'
