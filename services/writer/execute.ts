import type { LoggedIntent, Write } from '#libs/events'
import { type CallOptions, type KubeApiError, isAlreadyExists, isConflict } from '#libs/kube'
import { type KubeObject, type ResourceInfo, type Side, knownResource } from '#libs/kube-model'
import type { TenantConfig } from '#libs/sync-config'
import { customResourceInfo, isCustomResource } from '#libs/translation'
import { announce } from './announce.ts'
import { classify, isAbsent, saidBy } from './classify.ts'
import { handOverTokens, provideTokens } from './create-pod.ts'
import { configuredVersion } from './configured-writes.ts'
import { confirmAbsent } from './confirm-absent.ts'
import { withPreconditions } from './patch-precondition.ts'
import { placeObjection } from './place-objection.ts'
import { replace } from './replace.ts'
import type { Opener, TenantRoute, WriterClient } from './ports.ts'
import { isAsWanted } from './is-as-wanted.ts'
import { type Attempt, conflict, done, parked, refused } from './result.ts'
import { hostOwnership, virtualOwnership } from './ownership.ts'

/** What carrying out an intent needs. */
export type ExecuteDeps = {
  host: WriterClient
  route: TenantRoute
  vault: Opener
  /** Which cluster a side has been since onboarding. */
  identity: (side: Side) => Promise<string | undefined>
  /** Breaks the call off. */
  signal: AbortSignal
  /** How long to wait for an answer, in milliseconds. */
  timeoutMs: number
  /** Told of each request. */
  onRequest?: CallOptions['onRequest']
}

/** One call: the intent's write with what it is made to. */
export type Call<W extends Write = Write> = {
  intent: LoggedIntent
  write: W
  resource: ResourceInfo
  client: WriterClient
  options: { signal: AbortSignal; timeoutMs: number } & Pick<CallOptions, 'onRequest'>
}

/**
 * Makes one attempt to carry out an intent. A write that was made before, by us and not noticed, counts as done: repeats
 * after a crash change nothing. The blast wall (guard.ts) must have been asked before.
 * @throws the signal's reason, and whatever is a fault of ours
 */
export async function execute(intent: LoggedIntent, deps: ExecuteDeps): Promise<Attempt> {
  const { target, write } = intent
  const resource = resourceOf(intent, deps.route.config)
  if (resource === undefined) return refused('Unsupported', `this build does not know ${target.resource}`)
  const { signal, timeoutMs, onRequest } = deps
  const client = target.side === 'host' ? deps.host : deps.route.client
  const call = { intent, resource, client, options: { signal, timeoutMs, onRequest } }
  try {
    switch (write.op) {
      case 'create':
        return await create({ ...call, write }, deps)
      case 'patch':
        return await patch({ ...call, write }, deps)
      case 'bind':
        return await bind({ ...call, write })
      case 'delete':
        return await remove({ ...call, write }, deps)
      case 'replace':
        return await replace({ ...call, write }, deps)
      case 'announce':
        return await announce({ ...call, write })
    }
  } catch (error) {
    deps.signal.throwIfAborted()
    return classify(error, write)
  }
}

/** A custom resource is written in the version that the body has, or that it is read in. */
function resourceOf({ target, write }: LoggedIntent, config: TenantConfig | undefined): ResourceInfo | undefined {
  if (!isCustomResource(target.resource)) return knownResource(target.resource)
  const read = configuredVersion(config, target.resource)
  const version = write.op === 'create' ? write.body.apiVersion?.split('/')[1] : read
  return customResourceInfo(target.resource, { version, namespaced: target.namespace !== '' })
}

async function create(call: Call<Extract<Write, { op: 'create' }>>, deps: ExecuteDeps): Promise<Attempt> {
  const { target } = call.intent
  const { tokens } = call.write
  const outside = await placeObjection(call, deps)
  if (outside !== undefined) return outside
  const objection = tokens === undefined ? undefined : await provideTokens(call, tokens, deps)
  if (objection !== undefined) return objection
  try {
    const body = deps.vault.unseal(target, call.write.body)
    const made = await call.client.create(call.resource, { namespace: target.namespace }, body, call.options)
    if (tokens !== undefined) await handOverTokens(call, tokens, { host: deps.host, made })
    return done(made.metadata)
  } catch (error) {
    if (!isAlreadyExists(error)) throw error
    return await lookAtHolder(call, saidBy(error as KubeApiError), deps)
  }
}

/** The name is taken: by what we wanted to create, by an earlier copy, or by something that is not ours. */
async function lookAtHolder(
  call: Call<Extract<Write, { op: 'create' }>>,
  message: string,
  deps: ExecuteDeps,
): Promise<Attempt> {
  const { intent, write } = call
  let live: KubeObject
  try {
    live = await call.client.get(call.resource, intent.target, call.options)
  } catch (error) {
    if (isAbsent(error)) return { result: 'retry', cause: 'failed', isUp: true, message }
    throw error
  }
  const owner =
    intent.target.side === 'host' ? hostOwnership(live, intent, write.body) : virtualOwnership(live, write.body)
  const isGoing = live.metadata.deletionTimestamp !== undefined
  switch (owner) {
    case 'same':
      // `done` says that both sides agree on what is written here: a state that another decision made is to be seen first.
      return isGoing || !isMade(live, call, deps) ? conflict(message) : done(live.metadata)
    case 'earlier':
      return conflict(message)
    case 'other-tuple':
      return parked('NameConflict', message)
    case 'foreign':
      return parked('ForeignObject', message)
  }
}

function isMade(
  live: KubeObject,
  { intent, write }: Call<Extract<Write, { op: 'create' }>>,
  { vault }: ExecuteDeps,
): boolean {
  return intent.target.side === 'virtual' || isAsWanted(live, vault.unseal(intent.target, write.body))
}

async function patch(call: Call<Extract<Write, { op: 'patch' }>>, deps: ExecuteDeps): Promise<Attempt> {
  const { write } = call
  const { target } = call.intent
  const body = Array.isArray(write.body) ? write.body : deps.vault.unsealFields(target, write.body)
  const patched = await call.client.patch(call.resource, target, withPreconditions(body, write), {
    ...call.options,
    type: write.patchType,
    subresource: write.subresource,
  })
  return done(patched.metadata)
}

async function bind(call: Call<Extract<Write, { op: 'bind' }>>): Promise<Attempt> {
  const { target } = call.intent
  const { node, uid } = call.write
  try {
    await call.client.bind({ namespace: target.namespace, name: target.name, uid }, node, call.options)
    return done({ uid })
  } catch (error) {
    if (!isConflict(error)) throw error
    const live = await call.client.get(call.resource, target, call.options)
    const isBound = live.metadata.uid === uid && (live['spec'] as { nodeName?: string } | undefined)?.nodeName === node
    return isBound ? done(live.metadata) : conflict(saidBy(error as KubeApiError))
  }
}

async function remove(call: Call<Extract<Write, { op: 'delete' }>>, deps: ExecuteDeps): Promise<Attempt> {
  const { write } = call
  if (write.proof.kind === 'confirm-absent') {
    const objection = await confirmAbsent(write.proof, { ...deps, options: call.options })
    if (objection !== undefined) return objection
  }
  try {
    const left = await call.client.delete(call.resource, call.intent.target, {
      ...call.options,
      uid: write.uid,
      resourceVersion: write.resourceVersion,
      gracePeriodSeconds: write.gracePeriodSeconds,
    })
    // A Status, for kinds that go at once, has no uid of its own.
    return done({ uid: write.uid, resourceVersion: left?.metadata?.resourceVersion || undefined })
  } catch (error) {
    // Gone, or another object under the name: what was to be deleted is not there any more.
    if (isAbsent(error) || isOtherUid(error)) return done({ uid: write.uid })
    throw error
  }
}

function isOtherUid(error: unknown): boolean {
  return isConflict(error) && /UID in (the )?precondition/i.test((error as Error).message)
}
