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
    side: 'virtual' as const,
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
  expect(gate.load('virtual')).toEqual({ urgent: 0, bulk: 0, inFlight: 16 })
})

const at = (tenant: string, origin?: string) => ({ side: 'virtual' as const, tenant, origin })

test('a gate of a tenant at rest is forgotten; that its cluster is down is not', async () => {
  const gates = new ApiGates({ clock: createManualClock(), signal })
  const { gate, availability } = gates.of(at('a', 'https://a:6443'))
  availability.gaveUp(0, { now: 0, message: 'no answer' })
  const job = openJob('a')
  gate.submit(job)
  expect(gates.load('virtual')).toMatchObject({ inFlight: 1, limit: 16, down: 1 })
  await job.end(answered)
  expect(gates.load('virtual')).toMatchObject({ inFlight: 0, limit: 0, down: 1 })
})

test('tenants behind one address share its gate, in turns; each cluster is up or down by itself', async () => {
  const gates = new ApiGates({ clock: createManualClock(), signal })
  const origin = 'https://ingress:443'
  const [a, b] = [gates.of(at('a', origin)), gates.of(at('b', origin))]
  expect(a.gate).toBe(b.gate)
  expect(gates.of({ side: 'host', tenant: 'a', origin }).gate).toBe(a.gate)
  expect(gates.of(at('c', 'https://other:443')).gate).not.toBe(a.gate)
  a.availability.gaveUp(0, { now: 0, message: 'no answer' })
  expect([a.availability.isDown, b.availability.isDown]).toEqual([true, false])

  const greedy = Array.from({ length: 40 }, () => openJob('a'))
  const others = Array.from({ length: 8 }, () => openJob('b'))
  for (const job of greedy) a.gate.submit(job)
  for (const job of others) b.gate.submit(job)
  // What one had begun before another came stays; what is free from now on goes in turns.
  for (const job of greedy.slice(0, 16)) await job.end(answered)
  expect(others.every(({ begun }) => begun)).toBe(true)
  expect(greedy.filter(({ begun }) => begun).length).toBeLessThan(30)
})

test('what fails behind one address lowers nobody’s limit while others are answered', async () => {
  const gates = new ApiGates({ clock: createManualClock(), signal })
  const { gate } = gates.of(at('dead', 'https://ingress:443'))
  const [dead, alive] = [openJob('dead'), openJob('alive')]
  gate.submit(dead)
  gate.submit(alive)
  await alive.end(answered)
  await dead.end({ result: 'failed', ms: 15_000 })
  expect(gate.limit).toBe(16)
})
