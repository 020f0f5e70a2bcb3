import type { Write } from '#libs/events'
import { KubeApiError, isAlreadyExists, isConflict } from '#libs/kube'
import type { KubeObject } from '#libs/kube-model'
import { ANNOTATIONS, hostNamespaceFor, replacementMark, replacementOn, virtualRefOf } from '#libs/translation'
import { classify, isAbsent, saidBy } from './classify.ts'
import type { Call, ExecuteDeps } from './execute.ts'
import { areNotable, ownEndpoints, restoreEndpoints, untilNoticed } from './keep-endpoints.ts'
import { isOrphaning, untilLetGo } from './let-go.ts'
import { withPreconditions } from './patch-precondition.ts'
import { addressOf, fallbackBodies, objectionTo } from './replacement-body.ts'
import { type Attempt, conflict, done, parked } from './result.ts'

type ReplaceCall = Call<Extract<Write, { op: 'replace' }>>

/**
 * Makes a tenant's object anew. The API is asked first whether it would take the new one; then the body is put down on
 * the host copy, the old object is deleted and the new one created. Whatever breaks off in between, what the copy carries
 * says that the deletion was ours, and the next attempt creates what is missing. Without that the deletion was the
 * tenant’s, and nothing is created. One moment is ambiguous: the tenant deletes the object between our two calls, and
 * the mark cannot be taken off again.
 */
export async function replace(call: ReplaceCall, deps: ExecuteDeps): Promise<Attempt> {
  const { write, client, resource, options } = call
  const { target } = call.intent
  const live = await orAbsent(client.get(resource, target, options))
  const copy = await copyOf(call, deps)
  const noted = copy === undefined ? undefined : replacementOn(copy)
  const isBegun = noted?.uid === write.uid
  if (live === undefined) {
    if (!isBegun) return conflict('the tenant has deleted the object')
    return await withEndpoints(noted.endpoints, call, () => create(call, deps))
  }
  if (live.metadata.uid !== write.uid) {
    const isMade = isBegun && addressOf(live) === addressOf(write.body)
    if (!isMade) return conflict('another object has the name by now')
    return await withEndpoints(noted.endpoints, call, () => Promise.resolve(done(live.metadata)))
  }
  if (live.metadata.deletionTimestamp !== undefined) {
    if (!isBegun || !isOrphaning(live)) return conflict('the object is on its way out')
    await untilLetGo(live, call)
    return await withEndpoints(noted.endpoints, call, () => create(call, deps))
  }
  if (copy === undefined || copy.metadata.uid !== write.copy.uid) return conflict('the host copy is another one by now')
  const { resourceVersion } = write
  if (resourceVersion !== undefined && resourceVersion !== live.metadata.resourceVersion) {
    return conflict('the object was changed since the replacement was decided on')
  }
  if (resourceVersion === undefined) {
    // Nothing was deleted, and nothing must take a later deletion by the tenant for ours.
    if (isBegun) await mark(call, deps, null)
    return conflict('the object has not been deleted')
  }
  const objection = await objectionTo(write.body, call)
  if (objection !== undefined) return objection
  const endpoints = await ownEndpoints(write.body, call)
  const isNotable = endpoints !== undefined && areNotable(endpoints)
  await mark(call, deps, replacementMark({ ...write, ...(isNotable ? { endpoints } : {}) }))
  try {
    // What names the old one as its owner must not go with it.
    const policy = { propagationPolicy: 'Orphan' } as const
    const left = await client.delete(resource, target, { ...options, ...policy, uid: write.uid, resourceVersion })
    if (left?.metadata?.deletionTimestamp !== undefined) await untilLetGo(left, call)
  } catch (error) {
    if (!isAbsent(error) && !isConflict(error)) throw error
    await mark(call, deps, null)
    return conflict(saidBy(error as KubeApiError))
  }
  if (endpoints !== undefined) await untilNoticed(call)
  return await withEndpoints(endpoints, call, () => create(call, deps))
}

/** Makes the new object, and brings back what went with the old one. */
async function withEndpoints(
  endpoints: KubeObject | undefined,
  call: ReplaceCall,
  make: () => Promise<Attempt>,
): Promise<Attempt> {
  const made = await make()
  // Also where the tenant has the old Service back, which is parked then.
  if (endpoints !== undefined && (made.result === 'done' || made.result === 'parked')) {
    await restoreEndpoints(endpoints, call)
  }
  return made
}

async function create(call: ReplaceCall, deps: ExecuteDeps): Promise<Attempt> {
  const refusal = await attempt(call, call.write.body)
  if (refusal.result !== 'parked') return refusal
  // Nobody can have an object there any more.
  if (refusal.reason === 'NamespaceMissing' || refusal.reason === 'NamespaceTerminating') {
    await mark(call, deps, null)
    return conflict(refusal.message ?? 'the namespace is gone')
  }
  // Rather the Service as it was, with an address of the tenant's, than none.
  for (const body of fallbackBodies(call.write.body)) {
    const made = await attempt(call, body)
    if (made.result === 'done') return parked('Unsupported', refusal.message ?? '')
    if (made.result !== 'parked') return made
  }
  return refusal
}

async function attempt(call: ReplaceCall, body: KubeObject): Promise<Attempt> {
  const { client, resource, options, write } = call
  const { target } = call.intent
  try {
    return done((await client.create(resource, { namespace: target.namespace }, body, options)).metadata)
  } catch (error) {
    if (isAlreadyExists(error)) {
      const live = await orAbsent(client.get(resource, target, options))
      const isGoing = live?.metadata.uid === write.uid
      return conflict(isGoing ? 'finalizers keep the object that is to be made anew' : saidBy(error as KubeApiError))
    }
    if (!(error instanceof KubeApiError)) throw error
    return classify(error, { op: 'create' })
  }
}

/** The host copy, only if it is that of this very object. */
async function copyOf({ intent, write, resource, options }: ReplaceCall, deps: ExecuteDeps) {
  const at = { namespace: hostNamespaceFor(intent.target.namespace, deps.route), name: write.copy.name }
  const live = await orAbsent(deps.host.get(resource, at, options))
  const of = live === undefined ? undefined : virtualRefOf(live)
  const isOurs =
    of?.tenant === intent.target.tenant &&
    of.ref.resource === intent.target.resource &&
    of.ref.namespace === intent.target.namespace &&
    of.ref.name === intent.target.name
  return isOurs ? live : undefined
}

async function mark(
  { intent, write, resource, options }: ReplaceCall,
  deps: ExecuteDeps,
  value: string | null,
): Promise<void> {
  const at = { namespace: hostNamespaceFor(intent.target.namespace, deps.route), name: write.copy.name }
  const body = { metadata: { annotations: { [ANNOTATIONS.replacement]: value } } }
  await deps.host.patch(resource, at, withPreconditions(body, { uid: write.copy.uid }), { ...options, type: 'merge' })
}

async function orAbsent(reading: Promise<KubeObject>): Promise<KubeObject | undefined> {
  try {
    return await reading
  } catch (error) {
    if (isAbsent(error)) return undefined
    throw error
  }
}
