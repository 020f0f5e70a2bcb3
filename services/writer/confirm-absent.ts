import type { DeleteProof } from '#libs/events'
import { type KubeObject, type ResourceInfo, type Side, knownResource } from '#libs/kube-model'
import { customResourceInfo, isCustomResource } from '#libs/translation'
import { isAbsent } from './classify.ts'
import type { TenantRoute, WriterClient } from './ports.ts'
import { type Attempt, parked } from './result.ts'

type Proof = Extract<DeleteProof, { kind: 'confirm-absent' }>

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
export async function confirmAbsent(proof: Proof, deps: ConfirmDeps): Promise<Attempt | undefined> {
  const { counterpart, uid } = proof
  const resource = isCustomResource(counterpart.resource)
    ? customResourceInfo(counterpart.resource, { namespaced: counterpart.namespace !== '' })
    : knownResource(counterpart.resource)
  if (resource === undefined) return parked('Unsupported', `this build does not know ${counterpart.resource}`)
  const client = counterpart.side === 'host' ? deps.host : deps.route.client
  const listed = async (): Promise<Attempt | undefined> =>
    proof.listed === undefined
      ? undefined
      : await checkList(client, { resource, proof, notBefore: proof.listed.notBefore }, deps)
  let live: KubeObject
  try {
    live = await client.get(resource, counterpart, deps.options)
  } catch (error) {
    if (isAbsent(error)) return (await checkIdentity(counterpart.side, client, deps)) ?? (await listed())
    throw error
  }
  if (uid !== undefined && live.metadata.uid !== uid) return await listed()
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

/**
 * What the API's list says against it. One that still has the object contradicts the read; one of an earlier version than
 * was seen already is that of a store that was put back to an earlier state, which knows nothing of what came later.
 */
async function checkList(
  client: WriterClient,
  of: { resource: ResourceInfo; proof: Proof; notBefore: string | undefined },
  { options }: Pick<ConfirmDeps, 'options'>,
): Promise<Attempt | undefined> {
  const { counterpart, uid } = of.proof
  const { namespace, name } = counterpart
  const selection = { ...(namespace === '' ? {} : { namespace }), fieldSelector: `metadata.name=${name}` }
  const page = await client.listPage(of.resource, { ...options, ...selection })
  const found = page.items.some(({ metadata }) => metadata.name === name && (uid === undefined || metadata.uid === uid))
  if (found) return parked('StillPresent', `the list of ${counterpart.resource} still has "${name}"`)
  if (!isBefore(page.resourceVersion, of.notBefore)) return undefined
  return parked(
    'MassDeletion',
    `the ${counterpart.side} API is at version ${page.resourceVersion}, and was at ${of.notBefore} before: its store was ` +
      'put back to an earlier state, and what it lacks may have been lost',
  )
}

/** Versions are numbers on every API server that is known; where they are not, nothing can be told from them. */
function isBefore(version: string, other: string | undefined): boolean {
  return other !== undefined && /^\d+$/.test(version) && /^\d+$/.test(other) && BigInt(version) < BigInt(other)
}
