import { systemClock } from '#libs/kernel'
import { describe, expect, it, onTestFinished } from 'vitest'
import { ApiError } from '../api-error.ts'
import { createWorkQueue } from './work-queue.ts'
import type { WorkQueue } from './work-queue.ts'

function start(reconcile: (key: string) => number | void): WorkQueue & { warnings: object[] } {
  const warnings: object[] = []
  const log = { debug: () => {}, warn: (fields: object) => void warnings.push(fields) }
  const queue = createWorkQueue({ name: 'test', reconcile, clock: systemClock, random: () => 0, log })
  onTestFinished(() => queue.close())
  return { ...queue, warnings }
}

describe('createWorkQueue', () => {
  it('works once on a key that was added many times', async () => {
    const done: string[] = []
    const queue = start((key) => void done.push(key))
    for (const key of ['a', 'b', 'a', 'a']) queue.add(key)
    await expect.poll(() => done).toEqual(['a', 'b'])
  })

  it('works again on a key that was added meanwhile', async () => {
    let runs = 0
    const queue = start((key) => {
      runs += 1
      if (runs === 1) queue.add(key)
    })
    queue.add('a')
    await expect.poll(() => runs).toBe(2)
  })

  it('tries again after a conflict without a warning, and after other failures with one', async () => {
    const failures = [ApiError.staleVersion({ group: '', plural: 'pods' }, 'a'), new Error('broken')]
    let runs = 0
    const queue = start(() => {
      runs += 1
      const failure = failures.shift()
      if (failure !== undefined) throw failure
    })
    queue.add('a')
    await expect.poll(() => runs).toBe(3)
    expect(queue.warnings).toMatchObject([{ controller: 'test', key: 'a', err: { message: 'broken' } }])
  })

  it('looks again after the time that was asked for', async () => {
    let runs = 0
    const queue = start(() => (++runs < 3 ? 1 : undefined))
    queue.add('a')
    await expect.poll(() => runs).toBe(3)
  })

  it('does nothing after close', () => {
    const queue = start(() => {
      throw new Error('must not run')
    })
    queue.add('a')
    queue.close()
    queue.add('b', 1)
    expect(queue.warnings).toEqual([])
  })
})
