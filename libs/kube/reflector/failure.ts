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
  // A version that the server cannot read, or that lies ahead of it, is from another history than the server's.
  const ahead = error.details?.causes?.some((cause) => cause.reason === 'ResourceVersionTooLarge') ?? false
  if (ahead) return { kind: 'expired', message }
  switch (error.statusCode) {
    case 400:
      return { kind: 'expired', message }
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
