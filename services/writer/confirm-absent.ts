import type { DeleteProof } from '#libs/events'
import { type KubeObject, knownResource } from '#libs/kube-model'
import { isAbsent } from './classify.ts'
import type { TenantRoute, WriterClient } from './ports.ts'
import { type Attempt, parked } from './result.ts'

/**
 * Reads the counterpart of an object that is to be deleted, live, and answers what stands against the deletion:
 * undefined only when the API says that it is not there, or that another object has its name.
 * @throws any other error of the API: not being able to look is no proof
 */
export async function confirmAbsent(
  proof: Extract<DeleteProof, { kind: 'confirm-absent' }>,
  deps: { host: WriterClient; route: TenantRoute; options: { signal: AbortSignal; timeoutMs: number } },
): Promise<Attempt | undefined> {
  const { counterpart, uid } = proof
  const resource = knownResource(counterpart.resource)
  if (resource === undefined) return parked('Unsupported', `this build does not know ${counterpart.resource}`)
  const client = counterpart.side === 'host' ? deps.host : deps.route.client
  let live: KubeObject
  try {
    live = await client.get(resource, counterpart, deps.options)
  } catch (error) {
    if (isAbsent(error)) return await checkIdentity(counterpart.side, deps)
    throw error
  }
  if (uid !== undefined && live.metadata.uid !== uid) return undefined
  return parked('StillPresent', `${counterpart.resource} "${counterpart.name}" is still there on its own side`)
}

/** An empty cluster behind the tenant's address knows none of its objects: that proves nothing. */
async function checkIdentity(
  side: 'virtual' | 'host',
  deps: Parameters<typeof confirmAbsent>[1],
): Promise<Attempt | undefined> {
  const known = deps.route.clusterIdentity
  if (side === 'host' || known === undefined) return undefined
  const found = await deps.route.client.clusterIdentity(deps.options)
  if (found === known) return undefined
  return parked('StillPresent', 'another cluster answers at the address of the tenant: nothing is deleted on its word')
}
