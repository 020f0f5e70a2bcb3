import type { CallOptions } from '#libs/kube'
import { KubeApiError, isNotFound } from '#libs/kube'
import type { KubeObject, ResourceInfo } from '#libs/kube-model'
import type { WatchedCluster } from './cluster.ts'
import type { Known } from './known-objects.ts'

/** What a live read says about an object that is missing from a list or left a selection. */
export type Verdict =
  | { known: Known; found: 'gone' }
  /** Another object has the name: the known one is gone. */
  | { known: Known; found: 'replaced'; object: KubeObject }
  | { known: Known; found: 'present'; object: KubeObject }
  /** There was no clear answer: nothing may follow from it. */
  | { known: Known; found: 'unclear' }

const CHUNK = 256
const CONCURRENCY = 8
const READ_TIMEOUT_MS = 10_000

/**
 * Reads each object by name, a few at once. "Gone" counts only if the cluster is the right one before and after: an API
 * that serves an empty store for a moment finds nothing, and that is no deletion.
 * @throws ClusterChangedError
 */
export async function* confirmMissing(options: {
  cluster: WatchedCluster
  resource: ResourceInfo
  missing: readonly Known[]
  signal: AbortSignal
}): AsyncGenerator<Verdict[], void, void> {
  const { cluster, resource, missing, signal } = options
  for (let from = 0; from < missing.length && !signal.aborted; from += CHUNK) {
    const chunk = missing.slice(from, from + CHUNK)
    if (!(await isReachable(cluster, signal))) {
      yield chunk.map((known) => ({ known, found: 'unclear' }))
      continue
    }
    const verdicts: Verdict[] = []
    const queue = chunk.values()
    const read = async (): Promise<void> => {
      for (const known of queue) verdicts.push(await readOne({ cluster, resource, known, signal }))
    }
    await Promise.all(Array.from({ length: CONCURRENCY }, read))
    const isStillTheSame = await isReachable(cluster, signal)
    yield isStillTheSame ? verdicts : verdicts.map(({ known }) => ({ known, found: 'unclear' }))
  }
}

/** Reads one object by name. */
export async function readOne(options: {
  cluster: WatchedCluster
  resource: ResourceInfo
  known: Known
  signal: AbortSignal
}): Promise<Verdict> {
  const { cluster, resource, known, signal } = options
  const call: CallOptions = { signal, timeoutMs: READ_TIMEOUT_MS }
  try {
    const object = await cluster.client.get(resource, { namespace: known.namespace, name: known.name }, call)
    return { known, found: object.metadata.uid === known.uid ? 'present' : 'replaced', object }
  } catch (error) {
    return { known, found: saysNotFound(error, known.name) ? 'gone' : 'unclear' }
  }
}

/** The API says that there is no such object, not that there is no such path. */
function saysNotFound(error: unknown, name: string): boolean {
  return error instanceof KubeApiError && isNotFound(error) && error.details?.name === name
}

async function isReachable(cluster: WatchedCluster, signal: AbortSignal): Promise<boolean> {
  try {
    await cluster.verify({ fresh: true, signal })
    return true
  } catch (error) {
    if ((error as { code?: string }).code === 'ClusterChanged') throw error
    return false
  }
}
