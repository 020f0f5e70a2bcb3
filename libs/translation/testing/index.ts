export { memoryRelated } from './related.ts'
export { Simulation } from './simulation.ts'
export { deepFreeze } from './deep-freeze.ts'
export { TENANT, objectOf, podOf } from './objects.ts'
