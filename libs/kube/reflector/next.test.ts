import { describe, expect, test } from 'vitest'
import { begin, next } from './next.ts'
import type { Failure, ReflectorSignal, ReflectorState } from './next.ts'

const watching: ReflectorState = { phase: 'watching', resourceVersion: '10', cause: 'start', attempt: 0 }
const listing: ReflectorState = { phase: 'listing', resourceVersion: undefined, cause: 'start', attempt: 0 }

const failed = (failure: Partial<Failure>, lastedMs = 5_000): ReflectorSignal => ({
  type: 'watch-failed',
  resourceVersion: '12',
  lastedMs,
  failure: { kind: 'other', message: 'it broke', ...failure },
})
const ended = (lastedMs: number, events: number): ReflectorSignal => ({
  type: 'watch-ended',
  resourceVersion: '12',
  lastedMs,
  events,
})

describe('begin', () => {
  test('watches from a checkpoint without a list', () => {
    expect(begin('7')).toEqual([
      { phase: 'watching', resourceVersion: '7', cause: 'start', attempt: 0 },
      { do: 'watch', resourceVersion: '7' },
    ])
  })

  test('lists when there is no checkpoint', () => {
    expect(begin(undefined)).toEqual([listing, { do: 'list', cause: 'start' }])
  })
})

describe('next', () => {
  test('watches from the version of a complete list', () => {
    expect(next(listing, { type: 'listed', resourceVersion: '9' })[1]).toEqual({ do: 'watch', resourceVersion: '9' })
  })

  test('backs off after a failed list and lists again', () => {
    const [state, action] = next(listing, { type: 'list-failed', failure: { kind: 'other', message: 'refused' } })
    expect(state).toMatchObject({ phase: 'backing-off', attempt: 1 })
    expect(action).toMatchObject({ do: 'wait', attempt: 0, atLeastMs: 0, message: 'refused' })
    expect(next(state, { type: 'waited' })[1]).toEqual({ do: 'list', cause: 'start' })
  })

  test('resumes at once after a watch that ended in its time', () => {
    expect(next(watching, ended(300_000, 0))[1]).toEqual({ do: 'watch', resourceVersion: '12' })
  })

  test('resumes at once after a short watch that brought events', () => {
    expect(next(watching, ended(10, 1))[1]).toEqual({ do: 'watch', resourceVersion: '12' })
  })

  test('counts a watch that ended at once without an event as a failure', () => {
    expect(next(watching, ended(10, 0))[1]).toMatchObject({ do: 'wait' })
  })

  test('resumes from where a broken watch came to, after a pause', () => {
    const [state, action] = next(watching, failed({}))
    expect(action).toMatchObject({ do: 'wait', attempt: 0 })
    expect(next(state, { type: 'waited' })[1]).toEqual({ do: 'watch', resourceVersion: '12' })
  })

  test('pauses longer with each failure', () => {
    const [once] = next(watching, failed({}))
    expect(next(once, failed({}))[1]).toMatchObject({ attempt: 1 })
  })

  test('forgets failures after two minutes of health', () => {
    expect(next({ ...watching, attempt: 6 }, failed({}, 120_000))[1]).toMatchObject({ attempt: 0 })
  })

  test('resumes a silent watch at once', () => {
    expect(next(watching, failed({ kind: 'idle' }))[1]).toEqual({ do: 'watch', resourceVersion: '12' })
  })

  test('lists at once when history has expired', () => {
    const [state, action] = next(watching, failed({ kind: 'expired' }))
    expect(action).toEqual({ do: 'list', cause: 'expired' })
    expect(state).toMatchObject({ resourceVersion: undefined, attempt: 1 })
  })

  test('pauses before the list when what was just listed has expired again', () => {
    const [state, action] = next({ ...watching, attempt: 1 }, failed({ kind: 'expired' }, 10))
    expect(action).toMatchObject({ do: 'wait' })
    expect(next(state, { type: 'waited' })[1]).toEqual({ do: 'list', cause: 'expired' })
  })

  test('waits at least as long as the server asks', () => {
    expect(next(watching, failed({ kind: 'throttled', retryAfterMs: 7_000 }))[1]).toMatchObject({ atLeastMs: 7_000 })
  })

  test('backs off slowly from what it may not read', () => {
    expect(next(watching, failed({ kind: 'denied' }))[1]).toMatchObject({ backoff: { baseMs: 10_000, capMs: 60_000 } })
  })
})
