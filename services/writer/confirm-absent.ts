import type { DeleteProof } from '#libs/events'
import { type KubeObject, type Side, knownResource } from '#libs/kube-model'
import { customResourceInfo, isCustomResource } from '#libs/translation'
import { isAbsent } from './classify.ts'
import type { TenantRoute, WriterClient } from './ports.ts'
import { type Attempt, parked } from './result.ts'

export type ConfirmDeps = {
  host: WriterClient
  route: TenantRoute
  /** Which cluster a side has been since onboarding. */
  identity(side: Side): Promise<string | undefined>
  options: { signal: AbortSignal; timeoutMs: number }
}

/**
 * Reads the counterpart of an object that is to be deleted, live, and answers what stands against the deletion:
 * undefined only when the API says that it is not there, or that another object has its name.
 * @throws any other error of the API: not being able to look is no proof
 */
export async function confirmAbsent(
  proof: Extract<DeleteProof, { kind: 'confirm-absent' }>,
  deps: ConfirmDeps,
): Promise<Attempt | undefined> {
  const { counterpart, uid } = proof
  const resource = isCustomResource(counterpart.resource)
    ? customResourceInfo(counterpart.resource, { namespaced: counterpart.namespace !== '' })
    : knownResource(counterpart.resource)
  if (resource === undefined) return parked('Unsupported', `this build does not know ${counterpart.resource}`)
  const client = counterpart.side === 'host' ? deps.host : deps.route.client
  let live: KubeObject
  try {
    live = await client.get(resource, counterpart, deps.options)
  } catch (error) {
    if (isAbsent(error)) return await checkIdentity(counterpart.side, client, deps)
    throw error
  }
  if (uid !== undefined && live.metadata.uid !== uid) return undefined
  return parked('StillPresent', `${counterpart.resource} "${counterpart.name}" is still there on its own side`)
}

/** An empty cluster behind the same address knows none of the objects: that proves nothing. */
async function checkIdentity(side: Side, client: WriterClient, deps: ConfirmDeps): Promise<Attempt | undefined> {
  const known = await deps.identity(side)
  if (known === undefined) return parked('StillPresent', `which cluster the ${side} side must be is not known yet`)
  const found = await client.clusterIdentity(deps.options)
  if (found === known) return undefined
  return parked('StillPresent', `another cluster answers on the ${side} side: nothing is deleted on its word`)
}
