import { type Clock, backoffDelay } from '#libs/kernel'
import { isNotFound, reflect } from '#libs/kube'
import { RESOURCES } from '#libs/kube-model'
import { DEFINITIONS } from '#libs/translation'
import type { WatchedCluster } from './cluster.ts'
import { untilAborted } from './until-aborted.ts'

export type FollowDefinitionsOptions = {
  cluster: Pick<WatchedCluster, 'client' | 'definitions'>
  clock: Clock
  random: () => number
  signal: AbortSignal
}

const RETRY = { baseMs: 10_000, capMs: 60_000 }

/**
 * While a cluster does not serve a kind that is to be watched, follows the definitions of custom resources there, and
 * tells the kind's watch when its own comes. Runs until the signal aborts. Nothing of it is published.
 *
 * Begins with a list of one object, for the version to watch from: all the definitions of a cluster are many megabytes.
 * An API that does not let us leaves the kinds' watches to look again by themselves.
 */
export async function followDefinitions(options: FollowDefinitionsOptions): Promise<void> {
  const { cluster, clock, random, signal } = options
  const { definitions } = cluster
  for (let failures = 0; !signal.aborted;) {
    const changed = definitions.changed()
    if (definitions.missing.size === 0) {
      await untilAborted(changed, signal)
      failures = 0
      continue
    }
    try {
      await followWhileMissing(options)
      failures = 0
    } catch {
      await clock.sleep(backoffDelay(RETRY, failures++, random), signal).catch(() => undefined)
    }
  }
}

/** Returns when no kind is missing any more, or the signal aborts. */
async function followWhileMissing(options: FollowDefinitionsOptions): Promise<void> {
  const { cluster, clock, random, signal } = options
  const { client, definitions } = cluster
  const { resourceVersion } = await client.listPage(RESOURCES[DEFINITIONS], { limit: 1, signal })
  // One that came between the answer that its kind is missing and this list.
  for (const kind of definitions.missing) if (await isDefined(kind, options)) definitions.announce(kind)
  const over = new AbortController()
  const stop = async (): Promise<void> => {
    while (definitions.missing.size > 0 && !signal.aborted) await untilAborted(definitions.changed(), signal)
    over.abort(new Error('no kind is missing'))
  }
  const stopping = stop()
  const events = reflect({
    client,
    resource: RESOURCES[DEFINITIONS],
    checkpoint: resourceVersion,
    clock,
    random,
    signal: AbortSignal.any([signal, over.signal]),
  })
  for await (const event of events) {
    if (event.type === 'ADDED' || event.type === 'MODIFIED') definitions.announce(event.object.metadata.name)
  }
  await stopping
}

async function isDefined(name: string, { cluster, signal }: FollowDefinitionsOptions): Promise<boolean> {
  try {
    await cluster.client.get(RESOURCES[DEFINITIONS], { name }, { signal })
    return true
  } catch (error) {
    if (isNotFound(error)) return false
    throw error
  }
}
