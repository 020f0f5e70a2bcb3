import { type Clock, backoffDelay } from '#libs/kernel'
import type { WatchedCluster } from './cluster.ts'
import type { KindScope } from './kind-scope.ts'

/** Most kinds of most tenants are empty: their second looks are spread over this time. */
const WITHIN_MS = 5_000
const RETRY = { baseMs: 500, capMs: 15_000 }
const ATTEMPTS = 5

/**
 * Looks a few seconds later, with one small list, whether a kind is empty indeed whose list was. What is wrong with the
 * API the watch tells: after some attempts nothing is said against the list.
 * @throws the signal's reason
 */
export async function isStillEmpty(
  options: { cluster: WatchedCluster; scope: KindScope; clock: Clock; random: () => number },
  signal: AbortSignal,
): Promise<boolean> {
  const { cluster, scope, clock, random } = options
  const { labelSelector, namespace } = scope
  await clock.sleep((0.2 + 0.8 * random()) * WITHIN_MS, signal)
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    try {
      const page = await cluster.client.listPage(scope.resource, { labelSelector, namespace, limit: 1, signal })
      return page.items.length === 0
    } catch {
      signal.throwIfAborted()
    }
    await clock.sleep(backoffDelay(RETRY, attempt, random), signal)
  }
  return true
}
