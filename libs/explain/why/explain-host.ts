import { originOf, readLast } from '#libs/bus'
import { STREAMS, decodeChange, parseSubject, subjectFor } from '#libs/events'
import { type KubeObject, type ObjectRef, type ResourceInfo, resourceToken } from '#libs/kube-model'
import { LABELS, isMirrored, virtualRefOf } from '#libs/translation'
import type { Sources } from '../sources.ts'
import { type Explanation, explain } from './explain.ts'
import { type LiveObject, readLive } from './live-object.ts'
import { verdict } from './verdict-words.ts'
import type { Verdict } from './verdicts.ts'

/** Whose a host object is. */
export type HostExplanation = {
  host: ObjectRef & { kind: string }
  verdict: Verdict
  /** The tenant's object that it stands for, and what says so. */
  owner?: { tenant: string; ref: ObjectRef; by: 'its stamps' | 'the log' }
  /** The answer about that object. */
  explanation?: Explanation
}

/**
 * Answers whose an object on the host is, and why it is there or is not.
 * @throws BusError
 */
export async function explainHost(
  sources: Sources,
  question: { info: ResourceInfo; namespace: string; name: string },
): Promise<HostExplanation> {
  const { info, name } = question
  const namespace = info.namespaced ? question.namespace : ''
  const host = { kind: info.kind, resource: resourceToken(info), namespace, name }
  const live = await readLive(sources.host, info, { namespace, name })
  const owner = await ownerOf(sources, host, live)
  if (owner === undefined) return { host, verdict: await withoutOwner(sources, host, live) }
  const { tenant, ref } = owner
  const explanation = await explain(sources, { tenant, info, namespace: ref.namespace, name: ref.name })
  return { host, owner, verdict: explanation.verdict, explanation }
}

async function ownerOf(
  sources: Sources,
  host: ObjectRef,
  live: LiveObject,
): Promise<HostExplanation['owner'] | undefined> {
  if (isMirrored(host.resource)) return undefined
  const stamped = live.state === 'there' ? virtualRefOf(live.object) : undefined
  if (stamped !== undefined && stamped.ref.resource === host.resource) return { ...stamped, by: 'its stamps' }
  // An object that stands there and is not stamped is nobody's copy, whatever was there before.
  if (live.state === 'there') return undefined
  for (const object of await logged(sources, host)) {
    const found = virtualRefOf(object)
    if (found !== undefined && found.ref.resource === host.resource) return { ...found, by: 'the log' }
  }
  return undefined
}

/** What the log last said of a host object, whosever it was. */
async function logged({ bus }: Sources, host: ObjectRef): Promise<KubeObject[]> {
  const subject = subjectFor('change', 0, { tenant: 'any', side: 'host', ...host }).split('.')
  const filter = ['change', '*', '*', ...subject.slice(3)].join('.')
  const found: KubeObject[] = []
  for await (const batch of readLast(bus, { stream: STREAMS.changes, filterSubjects: [filter] })) {
    for (const message of batch) {
      if (originOf(message) !== undefined || parseSubject(message.subject).key.side !== 'host') continue
      try {
        found.push(decodeChange(message).object())
      } catch {
        // Nothing can be told from one that this build cannot read.
      }
    }
  }
  return found
}

async function withoutOwner(sources: Sources, host: ObjectRef & { kind: string }, live: LiveObject): Promise<Verdict> {
  const what = `${host.kind} "${host.name}"`
  if (live.state === 'unknown') {
    return verdict(
      live.reason === 'Unauthorized' ? 'Unauthorized' : 'ApiUnavailable',
      'unknown',
      `the host: ${live.message}`,
    )
  }
  if (live.state === 'absent') {
    const tenants = (await sources.registry.list()).filter(({ hostNamespace }) => hostNamespace === host.namespace)
    const whose =
      tenants.length === 0 ? 'the namespace is no tenant’s' : `the namespace is tenant ${tenants[0]?.name ?? ''}’s`
    return verdict(
      'NotFound',
      false,
      `the host has no ${what} in ${host.namespace || 'the cluster'}, and the log has none; ${whose}`,
    )
  }
  const label = live.object.metadata.labels?.[LABELS.tenant]
  if (isMirrored(host.resource))
    return verdict('NotOurs', 'unknown', `${what} is the host’s own: tenants may see a copy of it`)
  const text =
    label === undefined
      ? `${what} is no copy of a tenant’s object: it has no stamps of Causeway`
      : `${what} has the label of tenant ${label} and no stamps that agree with its name: somebody else has copied or changed it`
  return verdict('NotOurs', 'unknown', text)
}
