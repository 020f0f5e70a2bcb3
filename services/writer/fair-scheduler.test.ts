import { describe, expect, test } from 'vitest'
import { FairScheduler, type Urgency } from './fair-scheduler.ts'

type Job = { tenant: string; n: number }

function fill(scheduler: FairScheduler<Job>, tenant: string, options: { count: number; urgency?: Urgency }): Job[] {
  return Array.from({ length: options.count }, (_, n) => {
    const job = { tenant, n }
    scheduler.add(job, { tenant, urgency: options.urgency ?? 'bulk' })
    return job
  })
}

function take(scheduler: FairScheduler<Job>, count: number): string {
  return Array.from({ length: count }, () => scheduler.next()?.tenant ?? '-').join('')
}

describe('among tenants', () => {
  test('a tenant with much queued gets no more than its turn', () => {
    const scheduler = new FairScheduler<Job>()
    fill(scheduler, 'a', { count: 1000 })
    fill(scheduler, 'b', { count: 3 })
    fill(scheduler, 'c', { count: 2 })
    expect(take(scheduler, 9)).toBe('abcabcaba')
  })

  test('weights give a tenant several items per turn', () => {
    const scheduler = new FairScheduler<Job>({ weight: (tenant) => (tenant === 'a' ? 3 : 1) })
    fill(scheduler, 'a', { count: 9 })
    fill(scheduler, 'b', { count: 9 })
    expect(take(scheduler, 8)).toBe('aaabaaab')
  })

  test('items of one tenant keep their order', () => {
    const scheduler = new FairScheduler<Job>()
    const jobs = fill(scheduler, 'a', { count: 3 })
    expect([scheduler.next(), scheduler.next(), scheduler.next()]).toEqual(jobs)
    expect(scheduler.next()).toBeUndefined()
  })

  test('a tenant that comes back does not save up turns', () => {
    const scheduler = new FairScheduler<Job>()
    fill(scheduler, 'a', { count: 1 })
    take(scheduler, 1)
    fill(scheduler, 'b', { count: 4 })
    fill(scheduler, 'a', { count: 4 })
    expect(take(scheduler, 4)).toBe('baba')
  })
})

describe('urgent items', () => {
  test('go before bulk ones', () => {
    const scheduler = new FairScheduler<Job>()
    fill(scheduler, 'b', { count: 2 })
    fill(scheduler, 'u', { count: 2, urgency: 'urgent' })
    expect(take(scheduler, 4)).toBe('uubb')
  })

  test('never starve bulk ones', () => {
    const scheduler = new FairScheduler<Job>({ urgentRun: 3 })
    fill(scheduler, 'u', { count: 100, urgency: 'urgent' })
    fill(scheduler, 'b', { count: 2 })
    expect(take(scheduler, 10)).toBe('uuubuuubuu')
  })
})

describe('a limit per tenant', () => {
  test('leaves the rest to others, and ends with what is done', () => {
    const scheduler = new FairScheduler<Job>({ maxPerTenant: () => 2 })
    fill(scheduler, 'a', { count: 5 })
    fill(scheduler, 'b', { count: 1 })
    expect(take(scheduler, 5)).toBe('aba--')
    expect(scheduler.running).toBe(3)
    scheduler.done('a')
    expect(take(scheduler, 2)).toBe('a-')
  })

  test('holds for a tenant whose queue ran empty in between', () => {
    const scheduler = new FairScheduler<Job>({ maxPerTenant: () => 1 })
    fill(scheduler, 'a', { count: 1 })
    expect(take(scheduler, 1)).toBe('a')
    fill(scheduler, 'a', { count: 1, urgency: 'urgent' })
    expect(take(scheduler, 1)).toBe('-')
    scheduler.done('a')
    expect(take(scheduler, 1)).toBe('a')
  })
})

test('an item can be taken out, wherever it stands', () => {
  const scheduler = new FairScheduler<Job>()
  const [first, second] = fill(scheduler, 'a', { count: 2 }) as [Job, Job]
  expect(scheduler.remove(first, { tenant: 'a', urgency: 'bulk' })).toBe(true)
  expect(scheduler.remove(first, { tenant: 'a', urgency: 'bulk' })).toBe(false)
  expect(scheduler.size()).toBe(1)
  expect(scheduler.next()).toBe(second)
})
