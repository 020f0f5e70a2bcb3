import { expect, test } from 'vitest'
import { createDelayedKeys } from './delayed-keys.ts'

/** A clock that stands still; sleeps end when it is set past them. */
function standingClock() {
  let now = 0
  const sleepers: { until: number; wake: () => void }[] = []
  return {
    now: () => now,
    sleep: (ms: number, signal?: AbortSignal) =>
      new Promise<void>((resolve, reject) => {
        sleepers.push({ until: now + ms, wake: resolve })
        signal?.addEventListener('abort', () => reject(signal.reason as Error))
      }),
    goTo: async (time: number) => {
      now = time
      for (const { until, wake } of sleepers) if (until <= time) wake()
      await Promise.resolve()
    },
  }
}

test('a key is due once, at the earliest of its times', async () => {
  const clock = standingClock()
  const due: string[] = []
  const keys = createDelayedKeys(clock, (key) => due.push(`${key} at ${clock.now()}`))
  keys.add('a', 50)
  keys.add('a', 20)
  keys.add('a', 90)
  keys.add('b', 30)
  for (const time of [10, 20, 30, 100]) await clock.goTo(time)
  expect(due).toEqual(['a at 20', 'b at 30'])
  keys.add('a', 5)
  await clock.goTo(105)
  expect(due).toEqual(['a at 20', 'b at 30', 'a at 105'])
})

test('what is forgotten is never due', async () => {
  const clock = standingClock()
  const due: string[] = []
  const keys = createDelayedKeys(clock, (key) => due.push(key))
  keys.add('a', 10)
  keys.clear()
  await clock.goTo(20)
  expect(due).toEqual([])
})
