import type { Cost } from './measure.ts'
import type { Percentiles } from './statistics.ts'

/** Changes of something that is there already. */
export type ChangesRun = {
  /** From the first change to the last one's being seen. */
  seconds: number
  /** Of each change until it was seen, in ms. */
  latency: Percentiles
  cost: Cost
}
