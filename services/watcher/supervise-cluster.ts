import { backoffDelay } from '#libs/kernel'
import { DEFINITIONS } from '#libs/translation'
import { ClusterChangedError, HostAsTenantError, SharedClusterError, type WatchedCluster } from './cluster.ts'
import { failureState, remedyFor } from './failure-state.ts'
import { followDefinitions } from './follow-definitions.ts'
import type { WatcherParts } from './watcher-parts.ts'

export type SuperviseOptions = {
  parts: WatcherParts
  cluster: WatchedCluster
  /** Under this name it is on the status board; empty for the host. */
  tenant: string
  /** One per kind: watches it until the signal aborts. */
  kinds: { resource: string; run(signal: AbortSignal): Promise<void> }[]
  signal: AbortSignal
}

const RETRY = { baseMs: 500, capMs: 15_000 }
const CHANGED_RETRY_MS = 5_000

/**
 * Keeps all kinds of one cluster watched: waits until the cluster answers and is the right one, then runs the kinds
 * until the signal aborts. When one fails, all begin again from their positions.
 * @throws BusError `Fenced` when another process has taken over
 */
export async function superviseCluster(options: SuperviseOptions): Promise<void> {
  const { parts, cluster, tenant, kinds, signal } = options
  const { board, clock, random, logger } = parts
  const reportAll = (status: ReturnType<typeof failureState>): void => {
    for (const { resource } of kinds) board.set({ tenant, resource, ...status })
  }
  // What is watched as a kind of its own tells the others all the same.
  const isToFollow = !kinds.some(({ resource }) => resource.split('/')[0] === DEFINITIONS)
  const definitions = {
    run: (together: AbortSignal) => followDefinitions({ cluster, clock, random, signal: together }),
  }
  reportAll({ state: 'listing', message: '' })
  // The same is told once, however often it is tried.
  let told: string | undefined
  for (let attempt = 0; !signal.aborted; attempt++) {
    const startedAt = clock.now()
    let delayMs = backoffDelay(RETRY, attempt, random)
    try {
      await cluster.verify({ fresh: true, signal })
      await runTogether(isToFollow ? [...kinds, definitions] : kinds, signal)
    } catch (error) {
      if (signal.aborted) return
      if (clock.now() - startedAt > 60_000) {
        attempt = 0
        told = undefined
      }
      if ((error as { code?: string }).code === 'Fenced') throw error
      if (error instanceof ClusterChangedError) {
        reportAll({ state: 'cluster-changed', message: error.message })
        delayMs = CHANGED_RETRY_MS
      } else if (error instanceof HostAsTenantError || error instanceof SharedClusterError) {
        // As one that cannot be reached: nobody else waits for it.
        reportAll({ state: 'unreachable', message: error.message })
        delayMs = CHANGED_RETRY_MS
      } else {
        const failure = failureState(error)
        reportAll(failure)
        const remedy = remedyFor(error)
        if (remedy === undefined) {
          logger.warn({ cluster: cluster.name, attempt, err: error }, 'watching a cluster failed; it begins again')
        } else if (told !== failure.message) {
          const kubeconfig = parts.directory.tenant(tenant)?.kubeconfig
          const what = { tenant: tenant === '' ? 'host' : tenant, kubeconfig, problem: failure.message, remedy }
          logger.warn(what, 'a cluster cannot be watched; it is tried again')
          told = failure.message
        }
      }
    }
    await clock.sleep(delayMs, signal).catch(() => undefined)
  }
}

/** Runs all; when one fails, stops the others and fails likewise. */
async function runTogether(
  kinds: readonly { run(signal: AbortSignal): Promise<void> }[],
  signal: AbortSignal,
): Promise<void> {
  const stop = new AbortController()
  const together = AbortSignal.any([signal, stop.signal])
  let failure: { error: unknown } | undefined
  await Promise.all(
    kinds.map(async (kind) => {
      try {
        await kind.run(together)
      } catch (error) {
        failure ??= { error }
      }
      stop.abort(new Error('another kind of the cluster has ended'))
    }),
  )
  if (failure !== undefined) throw failure.error
}
