import { expect, test } from 'vitest'
import { nextStep } from './next-step.ts'
import { type TryAgain, conflict, done } from './result.ts'

const retry: TryAgain = { result: 'retry', cause: 'failed', isUp: true, message: 'later' }
const context = { now: 1_000, deadlineMs: 30_000, isDown: false, random: () => 0.5 }

test('what is settled stays settled', () => {
  expect(nextStep(done({ uid: 'u' }), { startedAt: 0, failures: 0 }, context)).toEqual({ settle: done({ uid: 'u' }) })
  expect(nextStep(conflict('x'), { startedAt: 0, failures: 0 }, context)).toEqual({ settle: conflict('x') })
})

test.each([
  { failures: 1, retryInMs: 100 },
  { failures: 2, retryInMs: 200 },
  { failures: 4, retryInMs: 800 },
  { failures: 20, retryInMs: 5_000 },
])('after $failures failures it is tried again in about $retryInMs ms', ({ failures, retryInMs }) => {
  expect(nextStep(retry, { startedAt: 0, failures }, context)).toEqual({ retryInMs })
})

test('waits at least as long as the server asks', () => {
  expect(nextStep({ ...retry, retryAfterMs: 3_000 }, { startedAt: 0, failures: 1 }, context)).toEqual({
    retryInMs: 3_000,
  })
})

test.each([
  { what: 'its time is over', now: 29_950, isDown: false },
  { what: 'the server is known to be down', now: 1_000, isDown: true },
])('is parked when $what', ({ now, isDown }) => {
  const step = nextStep(retry, { startedAt: 0, failures: 1 }, { ...context, now, isDown })
  expect(step).toEqual({ settle: { result: 'parked', reason: 'ApiUnavailable', message: 'later' } })
})
