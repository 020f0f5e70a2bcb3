export { AllocationError } from './strategy.ts'
export type { Strategy, StrategyContext } from './strategy.ts'
export { strategyFor } from './strategies.ts'
