export { AllocationError } from './strategy.ts'
export type { Strategy, StrategyContext } from './strategy.ts'
export { qosClassOf } from './pod-rules.ts'
export { strategyFor } from './strategy-for.ts'
