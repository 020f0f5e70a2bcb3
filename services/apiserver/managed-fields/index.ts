export { trackManagedFields } from './track.ts'
export type { Writer } from './track.ts'
