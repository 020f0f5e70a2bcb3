import { errorMessage } from '#libs/kernel'
import { KubeApiError, KubeConnectionError, isExpired } from '../errors.ts'
import type { Failure } from './next.ts'

/** `reason` of the connection error for a watch on which nothing came for too long. */
export const IDLE = 'Idle'

/** Sorts what a list or a watch threw. A 401 got fresh credentials once already, so here it is a refusal. */
export function failureOf(error: unknown): Failure {
  const message = errorMessage(error)
  if (isExpired(error)) return { kind: 'expired', message }
  if (error instanceof KubeConnectionError && error.reason === IDLE) return { kind: 'idle', message }
  if (!(error instanceof KubeApiError)) return { kind: 'other', message }
  switch (error.statusCode) {
    case 401:
    case 403:
    case 404:
      return { kind: 'denied', message }
    case 429:
    case 503:
      return { kind: 'throttled', message, retryAfterMs: error.retryAfterMs }
    default:
      return { kind: 'other', message, retryAfterMs: error.retryAfterMs }
  }
}
