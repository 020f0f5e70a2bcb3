import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** What a process has and has done, as of now. */
export type Footprint = {
  /** What V8 holds for its heap, in bytes. */
  heapTotal: number
  /** CPU time of the process so far, in microseconds. */
  cpu: number
}

const LOOK_EVERY_MS = 10_000
/** Of a core, over the time between two looks: with more to do, a pause would be felt. */
const QUIET_SHARE = 0.1
const QUIET_MS = 30_000
/** At most one pause in this time, unless there was work since: some 2 ms for each megabyte that is in use. */
const APART_MS = 300_000
/** Above this a pause takes too long to be had for tidiness. */
const LARGE_HEAP = 1024 * 1024 * 1024
/** By so much the heap must have grown since it was last collected. */
const WORTH_BYTES = 16 * 1024 * 1024

/** Tells when a process that has come to rest holds more than it has to. */
export class RestingHeap {
  #cpu: number
  #lookedAt: number
  #quietSince: number
  #collectedAt = Number.NEGATIVE_INFINITY
  #least = 0

  /** @param now ms on any steady clock */
  constructor({ cpu }: Footprint, now: number) {
    this.#cpu = cpu
    this.#lookedAt = now
    this.#quietSince = now
  }

  isWorthCollecting({ heapTotal, cpu }: Footprint, now: number): boolean {
    const share = (cpu - this.#cpu) / 1_000 / (now - this.#lookedAt)
    this.#cpu = cpu
    this.#lookedAt = now
    if (share >= QUIET_SHARE) {
      this.#quietSince = now
      this.#collectedAt = Number.NEGATIVE_INFINITY
    }
    if (now - this.#quietSince < QUIET_MS || now - this.#collectedAt < APART_MS) return false
    return heapTotal < LARGE_HEAP && heapTotal - this.#least > WORTH_BYTES
  }

  /** To be called after it. */
  collected({ heapTotal, cpu }: Footprint, now: number): void {
    this.#least = heapTotal
    this.#cpu = cpu
    this.#lookedAt = now
    this.#collectedAt = now
  }
}

/**
 * Gives memory back when the process has come to rest: V8 collects as it allocates, so that one that has nothing to do
 * keeps what its last burst needed. `MEMORY_GIVE_BACK=off` in the environment leaves it there.
 * @returns how to stop that
 */
export function giveBackAtRest(env: Record<string, string | undefined> = process.env): () => void {
  if (env['MEMORY_GIVE_BACK'] === 'off') return () => undefined
  setFlagsFromString('--expose-gc')
  // As V8 does itself before it would fail: unlike any other collection, it shrinks the young generation, too.
  const flavor = { type: 'major', execution: 'sync', flavor: 'last-resort' }
  const collect = runInNewContext('gc') as (options: typeof flavor) => void
  const look = (): Footprint => {
    const { user, system } = process.cpuUsage()
    return { heapTotal: process.memoryUsage().heapTotal, cpu: user + system }
  }
  const heap = new RestingHeap(look(), performance.now())
  const timer = setInterval(() => {
    if (!heap.isWorthCollecting(look(), performance.now())) return
    collect(flavor)
    heap.collected(look(), performance.now())
  }, LOOK_EVERY_MS)
  timer.unref()
  return () => clearInterval(timer)
}
