export { compileExpression } from './expression.ts'
export type { Computed, Expression } from './expression.ts'
export { LIMITS } from './limits.ts'
