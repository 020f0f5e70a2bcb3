import { expect, test } from 'vitest'
import { createManualClock } from '#libs/kube/testing'
import type { CallSample } from './adaptive-limit.ts'
import { ApiGate, type Job } from './api-gate.ts'
import { ApiGates } from './api-gates.ts'

/** A job that ends when told to. */
function openJob(tenant: string): Job & { begun: boolean; end(sample?: CallSample): Promise<void> } {
  const ended = Promise.withResolvers<CallSample | undefined>()
  const job = {
    tenant,
    urgency: 'bulk' as const,
    begun: false,
    run: () => {
      job.begun = true
      return ended.promise
    },
    end: async (sample?: CallSample) => {
      ended.resolve(sample)
      await new Promise(setImmediate)
    },
  }
  return job
}

const { signal } = new AbortController()
const answered: CallSample = { result: 'answered', ms: 5 }

test('one tenant takes up at most half of a shared server', async () => {
  const gate = new ApiGate({ clock: createManualClock(), signal, shared: true })
  const jobs = Array.from({ length: 20 }, () => openJob('greedy'))
  for (const job of jobs) gate.submit(job)
  expect(gate.inFlight).toBe(8)
  const other = openJob('other')
  gate.submit(other)
  expect(other.begun).toBe(true)
  await jobs[0]?.end(answered)
  expect(gate.inFlight).toBe(9)
  expect(jobs[8]?.begun).toBe(true)
})

test('one tenant alone gets more of a shared server as the server proves to take it', async () => {
  const gate = new ApiGate({ clock: createManualClock(), signal, shared: true })
  const jobs = Array.from({ length: 200 }, () => openJob('only'))
  for (const job of jobs) gate.submit(job)
  const before = gate.inFlight
  for (const job of jobs.slice(0, 100)) await job.end(answered)
  expect(gate.inFlight).toBeGreaterThan(before)
})

test('starts nothing while the server asks to wait', async () => {
  const clock = createManualClock()
  const gate = new ApiGate({ clock, signal, shared: false })
  const [first, second] = [openJob('a'), openJob('a')]
  gate.submit(first)
  await first.end({ result: 'overloaded', ms: 5, retryAfterMs: 2_000 })
  gate.submit(second)
  expect(second.begun).toBe(false)
  clock.advance(2_000)
  await new Promise(setImmediate)
  expect(second.begun).toBe(true)
})

test('a job that is withdrawn never begins', () => {
  const gate = new ApiGate({ clock: createManualClock(), signal, shared: false })
  const jobs = Array.from({ length: 17 }, () => openJob('a'))
  for (const job of jobs) gate.submit(job)
  const last = jobs[16]
  expect(last?.begun).toBe(false)
  if (last !== undefined) gate.withdraw(last)
  expect(gate.queued).toEqual({ urgent: 0, bulk: 0 })
})

test('a gate of a tenant at rest is forgotten, unless its server is down', async () => {
  const gates = new ApiGates({ clock: createManualClock(), signal })
  const job = openJob('a')
  gates.tenant('a').submit(job)
  await job.end(answered)
  expect([...gates.tenants()]).toEqual([])
  const dead = openJob('b')
  const gate = gates.tenant('b')
  gate.availability.gaveUp(0, { now: 0, message: 'no answer' })
  gate.submit(dead)
  await dead.end({ result: 'failed', ms: 5 })
  expect([...gates.tenants()]).toEqual([gate])
})
