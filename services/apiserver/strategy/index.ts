export { strategyFor } from './strategies.ts'
export { AllocationError } from './strategy.ts'
export type { StrategyContext } from './strategy.ts'
