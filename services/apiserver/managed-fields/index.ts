export { trackManagedFields } from './track.ts'
