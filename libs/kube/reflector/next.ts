import type { BackoffOptions } from '#libs/kernel'

/** Why everything is listed: there is no checkpoint, or the server no longer has the history since it. */
export type ListCause = 'start' | 'expired'

/** A failure as far as it decides what comes next. */
export type Failure = {
  kind: 'expired' | 'throttled' | 'denied' | 'idle' | 'other'
  /** For people. */
  message: string
  /** What the server asked to wait. */
  retryAfterMs?: number | undefined
}

export type ReflectorState = {
  phase: 'listing' | 'watching' | 'backing-off'
  /** Where to watch from; undefined when everything must be listed. */
  resourceVersion: string | undefined
  /** Cause of the list that is under way or comes next. */
  cause: ListCause
  /** Failures since the last watch that stayed healthy. */
  attempt: number
}

/** What happened. */
export type ReflectorSignal =
  | { type: 'listed'; resourceVersion: string }
  | { type: 'list-failed'; failure: Failure }
  | { type: 'watch-ended'; resourceVersion: string; lastedMs: number; events: number }
  | { type: 'watch-failed'; resourceVersion: string; lastedMs: number; failure: Failure }
  | { type: 'waited' }

/** What to do next. */
export type ReflectorAction =
  | { do: 'list'; cause: ListCause }
  | { do: 'watch'; resourceVersion: string }
  | { do: 'wait'; backoff: BackoffOptions; attempt: number; atLeastMs: number; message: string }

export type Transition = [ReflectorState, ReflectorAction]

/** A watch that lasted this long forgets the failures before it. */
const HEALTHY_MS = 120_000
/** A watch that ends sooner and without an event counts as a failure, or we would reconnect in a tight loop. */
const TOO_SHORT_MS = 1_000
const BACKOFF: BackoffOptions = { baseMs: 800, capMs: 30_000 }
/** Missing rights and missing kinds are not put right within seconds. */
const SLOW_BACKOFF: BackoffOptions = { baseMs: 10_000, capMs: 60_000 }

/** The first transition: watch from the checkpoint, or list when there is none. */
export function begin(checkpoint: string | undefined): Transition {
  return proceed({ phase: 'listing', resourceVersion: checkpoint, cause: 'start', attempt: 0 })
}

/** The reflector's decisions, without its I/O. */
export function next(state: ReflectorState, signal: ReflectorSignal): Transition {
  switch (signal.type) {
    case 'listed':
      return proceed({ ...state, resourceVersion: signal.resourceVersion })
    case 'list-failed':
      return backOff({ ...state, resourceVersion: undefined }, signal.failure)
    case 'watch-ended': {
      const after = afterWatch(state, signal)
      if (signal.lastedMs >= TOO_SHORT_MS || signal.events > 0) return proceed(after)
      return backOff(after, { kind: 'other', message: 'the server ended the watch at once' })
    }
    case 'watch-failed':
      return afterFailedWatch(afterWatch(state, signal), signal.failure)
    case 'waited':
      return proceed(state)
  }
}

function afterFailedWatch(state: ReflectorState, failure: Failure): Transition {
  if (failure.kind === 'idle') return proceed(state)
  if (failure.kind !== 'expired') return backOff(state, failure)
  const relist: ReflectorState = { ...state, resourceVersion: undefined, cause: 'expired' }
  // At once the first time; a server that expires what it has just listed must not be listed in a tight loop.
  return state.attempt === 0 ? proceed({ ...relist, attempt: 1 }) : backOff(relist, failure)
}

function afterWatch(state: ReflectorState, watch: { resourceVersion: string; lastedMs: number }): ReflectorState {
  const attempt = watch.lastedMs >= HEALTHY_MS ? 0 : state.attempt
  return { ...state, resourceVersion: watch.resourceVersion, attempt }
}

function proceed(state: ReflectorState): Transition {
  const { resourceVersion, cause } = state
  if (resourceVersion === undefined)
    return [
      { ...state, phase: 'listing' },
      { do: 'list', cause },
    ]
  return [
    { ...state, phase: 'watching' },
    { do: 'watch', resourceVersion },
  ]
}

function backOff(state: ReflectorState, failure: Failure): Transition {
  return [
    { ...state, phase: 'backing-off', attempt: state.attempt + 1 },
    {
      do: 'wait',
      backoff: failure.kind === 'denied' ? SLOW_BACKOFF : BACKOFF,
      attempt: state.attempt,
      atLeastMs: failure.retryAfterMs ?? 0,
      message: failure.message,
    },
  ]
}
