import { CausewayError, errorMessage } from '#libs/kernel'
import { KubeApiError, KubeConnectionError, KubeconfigError, isForbidden, isUnauthorized } from '#libs/kube'
import type { WatchState } from './status-board.ts'

/** How a failure is told to operators: that of a call to the API, or one of the log that keeps the list waiting. */
export function failureState(error: unknown): { state: WatchState; message: string } {
  const isRefused = isUnauthorized(error) || isForbidden(error)
  const isOurs = error instanceof CausewayError && !error.code.startsWith('Kube')
  const state = isRefused ? 'unauthorized' : isOurs ? 'listing' : 'unreachable'
  return { state, message: errorMessage(error) }
}

/**
 * The same for a watch that backs off, which gives its reason in words: `GET /api/v1/pods: 401 …`. A cluster that does
 * not serve a kind says 404 to its list: the definition of a custom resource may come any day.
 */
export function backOffState(message: string): { state: WatchState; message: string } {
  if (/: 404 /.test(message)) return { state: 'absent', message }
  return { state: /: 40[13] /.test(message) ? 'unauthorized' : 'unreachable', message }
}

/**
 * What to do about an API that cannot be watched; `undefined` where the failure is none of the API's or its kubeconfig's,
 * and its stack is needed.
 */
export function remedyFor(error: unknown): string | undefined {
  if (error instanceof KubeconfigError) return 'correct the kubeconfig: it is read again at the next attempt'
  if (isUnauthorized(error)) return 'renew the credentials in the kubeconfig: it is read again at the next attempt'
  if (isForbidden(error)) return 'grant what docs/operations.md, "What the clusters must allow", lists'
  if (error instanceof KubeConnectionError) return 'see whether the API runs, and whether the address is right'
  return error instanceof KubeApiError ? 'see what the API says; it is tried again' : undefined
}
