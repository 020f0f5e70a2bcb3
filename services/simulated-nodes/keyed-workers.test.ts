import { systemClock } from '#libs/kernel'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createKeyedWorkers } from './keyed-workers.ts'
import type { KeyedWorkers } from './keyed-workers.ts'

function start(
  work: (key: string) => Promise<number | undefined>,
  concurrency = 2,
): KeyedWorkers & { errors: unknown[] } {
  const errors: unknown[] = []
  const onError = (_key: string, error: unknown): void => void errors.push(error)
  const workers = createKeyedWorkers({ work, concurrency, clock: systemClock, random: () => 0, onError })
  onTestFinished(() => workers.close())
  return { ...workers, errors }
}

describe('createKeyedWorkers', () => {
  it('works on several keys at once but never on more than allowed', async () => {
    let inWork = 0
    let most = 0
    const done = new Set<string>()
    const workers = start(async (key) => {
      most = Math.max(most, ++inWork)
      await systemClock.sleep(1)
      inWork -= 1
      done.add(key)
      return undefined
    })
    for (let index = 0; index < 10; index++) workers.add(String(index))
    await expect.poll(() => done.size).toBe(10)
    expect(most).toBe(2)
  })

  it('works alone on a key and once more when it is added meanwhile', async () => {
    let runs = 0
    const first = Promise.withResolvers<void>()
    const workers = start(async () => {
      if (++runs === 1) await first.promise
      return undefined
    })
    workers.add('a')
    workers.add('a')
    workers.add('a')
    expect(runs).toBe(1)
    first.resolve()
    await expect.poll(() => runs).toBe(2)
  })

  it('tries again after a failure and after the time that was asked for', async () => {
    let runs = 0
    const workers = start(async () => {
      runs += 1
      if (runs === 1) throw new Error('broken')
      return Promise.resolve(runs === 2 ? 1 : undefined)
    })
    workers.add('a')
    await expect.poll(() => runs).toBe(3)
    expect(workers.errors).toEqual([new Error('broken')])
  })
})
