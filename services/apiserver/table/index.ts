export { toTable } from './to-table.ts'
