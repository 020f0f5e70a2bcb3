export { LogOfChanges } from './log-of-changes.ts'
