import { errorMessage } from '#libs/kernel'
import { isForbidden, isUnauthorized } from '#libs/kube'
import type { WatchState } from './status-board.ts'

/** How a failed call to an API is told to operators. */
export function failureState(error: unknown): { state: WatchState; message: string } {
  const isRefused = isUnauthorized(error) || isForbidden(error)
  return { state: isRefused ? 'unauthorized' : 'unreachable', message: errorMessage(error) }
}

/** The same for a watch that backs off, which gives its reason in words: `GET /api/v1/pods: 401 …`. */
export function backOffState(message: string): { state: WatchState; message: string } {
  return { state: /: 40[13] /.test(message) ? 'unauthorized' : 'unreachable', message }
}
