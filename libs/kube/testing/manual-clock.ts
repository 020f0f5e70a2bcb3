import type { Clock } from '#libs/kernel'

/** A clock that stands still until a test moves it. */
export type ManualClock = Clock & {
  /** Moves time and wakes those whose time has come. */
  advance(ms: number): void
  /** How long each sleeper still has to sleep, shortest first. */
  asleep(): number[]
}

type Sleeper = { until: number; wake: () => void }

/** @param startAt milliseconds since the epoch */
export function createManualClock(startAt = 1_700_000_000_000): ManualClock {
  let now = startAt
  const sleepers = new Set<Sleeper>()
  return {
    now: () => now,
    asleep: () => [...sleepers].map((sleeper) => sleeper.until - now).sort((a, b) => a - b),
    advance: (ms) => {
      now += ms
      for (const sleeper of sleepers) if (sleeper.until <= now) sleeper.wake()
    },
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason as Error)
        const sleeper: Sleeper = {
          until: now + ms,
          wake: () => {
            sleepers.delete(sleeper)
            signal?.removeEventListener('abort', onAbort)
            resolve()
          },
        }
        const onAbort = (): void => {
          sleepers.delete(sleeper)
          reject(signal?.reason as Error)
        }
        sleepers.add(sleeper)
        signal?.addEventListener('abort', onAbort, { once: true })
      }),
  }
}
