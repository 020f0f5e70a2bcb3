import type { Reason } from '#libs/events'
import { errorMessage } from '#libs/kernel'
import { type KubeClient, isForbidden, isNotFound, isUnauthorized } from '#libs/kube'
import type { KubeObject, ObjectRef, ResourceInfo } from '#libs/kube-model'
import type { LastSeen } from '../state/tenant-state.ts'
import type { LiveFact } from './facts.ts'

/** How long an API may take: somebody waits for the answer. */
const TIMEOUT_MS = 5_000

/** What an API says of an object: it, or that there is none, or why it does not say. */
export type LiveObject =
  | { state: 'there'; object: KubeObject }
  | { state: 'absent' }
  | { state: 'unknown'; reason: Reason; message: string }

/** Reads an object as it is now. Never throws. */
export async function readLive(
  client: KubeClient,
  info: ResourceInfo,
  ref: Pick<ObjectRef, 'namespace' | 'name'>,
): Promise<LiveObject> {
  try {
    const target = ref.namespace === '' ? { name: ref.name } : { namespace: ref.namespace, name: ref.name }
    return { state: 'there', object: await client.get(info, target, { timeoutMs: TIMEOUT_MS }) }
  } catch (error) {
    return isNotFound(error) ? { state: 'absent' } : { state: 'unknown', ...problemOf(error) }
  }
}

/** The reason, of the closed set, that a call failed for. */
export function problemOf(error: unknown): { reason: Reason; message: string } {
  const message = errorMessage(error)
  if (isUnauthorized(error)) return { reason: 'Unauthorized', message }
  return { reason: isForbidden(error) ? 'Forbidden' : 'ApiUnavailable', message }
}

/** The same as a fact, held against what the log says. */
export function liveFact(live: LiveObject, seen: LastSeen | undefined): LiveFact {
  switch (live.state) {
    case 'unknown':
      return live
    case 'absent':
      return { state: 'absent', isAsSeen: seen === undefined || seen.type === 'DELETED' }
    case 'there': {
      const { uid = '', resourceVersion = '', deletionTimestamp } = live.object.metadata
      const { phase } = (live.object['status'] ?? {}) as { phase?: string }
      return {
        state: 'there',
        uid,
        resourceVersion,
        isTerminating: deletionTimestamp !== undefined,
        isAsSeen: seen !== undefined && seen.type !== 'DELETED' && seen.resourceVersion === resourceVersion,
        ...(phase === undefined ? {} : { phase }),
      }
    }
  }
}
