export type { StoredObject } from './object-table.ts'
export type { DecisionKey, Pending } from './pending-table.ts'
export { Projection } from './projection.ts'
export type { ProjectionOptions } from './projection.ts'
