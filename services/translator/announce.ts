import type { Intent, Reason } from '#libs/events'
import type { VerdictReason } from '#libs/explain'
import { sha256Hex } from '#libs/kernel'
import { type KubeObject, type ObjectRef, knownResource } from '#libs/kube-model'
import { withoutHostNames, withoutOwnLabels } from '#libs/translation'

/** What a tenant can be told: what an object waits for, what keeps it although nothing waits, or that all is well. */
export type Told = Reason | 'Synced' | Extract<VerdictReason, 'Excluded' | 'MissingReference' | 'DeletedOnHost'>

type Text = {
  reason: string
  text: string
  showAnswer?: boolean
  /** Whether what is shown is of our own making, in the tenant's names, and no API's words. */
  isOwn?: boolean
  isNormal?: boolean
}

/** What a tenant is told about its own object. The texts name nothing of the host. */
const TENANT_TEXT: Record<Told, Text> = {
  Synced: { reason: 'Synced', text: 'it is in sync again', isNormal: true },
  Excluded: { reason: 'SyncExcluded', text: 'it is kept from the host', showAnswer: true, isOwn: true, isNormal: true },
  MissingReference: {
    reason: 'SyncWaiting',
    text: 'it refers to what this cluster does not have, and starts when that is there',
    showAnswer: true,
    isOwn: true,
  },
  DeletedOnHost: {
    reason: 'SyncLost',
    text: 'its copy was deleted on the host, and not by Causeway',
    showAnswer: true,
    isOwn: true,
  },
  ForeignObject: {
    reason: 'SyncConflict',
    text: 'an object that does not belong to this cluster holds the name on the host; rename the object, or ask the operator',
  },
  NameConflict: {
    reason: 'SyncConflict',
    text: 'another object of this cluster holds the name on the host; rename one of the two',
  },
  QuotaExceeded: { reason: 'SyncFailed', text: 'the host’s quota is used up', showAnswer: true },
  AdmissionDenied: { reason: 'SyncFailed', text: 'a policy of the host refuses it', showAnswer: true },
  PolicyRejected: { reason: 'SyncFailed', text: 'the policy of this cluster does not let it run', showAnswer: true },
  UnknownClass: { reason: 'SyncFailed', text: 'it names a class that there is not', showAnswer: true },
  CrdMissing: { reason: 'SyncFailed', text: 'its kind is not defined where it is to go', showAnswer: true },
  DefinitionDiffers: {
    reason: 'SyncConflict',
    text: 'objects of this kind do not cross whole, as the host defines them differently',
    showAnswer: true,
  },
  ReferenceNotPermitted: { reason: 'SyncFailed', text: 'it refers to what it may not', showAnswer: true },
  WaitingForDNS: { reason: 'SyncWaiting', text: 'the DNS of this cluster has no address on the host yet' },
  TokenRefused: { reason: 'SyncFailed', text: 'this cluster’s API gives it no token', showAnswer: true },
  Forbidden: { reason: 'SyncFailed', text: 'Causeway is not allowed to write it; ask the operator' },
  Invalid: { reason: 'SyncFailed', text: 'the host’s API says it is invalid', showAnswer: true },
  NamespaceMissing: {
    reason: 'SyncFailed',
    text: 'the host namespace of this cluster does not exist; ask the operator',
  },
  NamespaceTerminating: { reason: 'SyncFailed', text: 'the host namespace of this cluster is being deleted' },
  ApiUnavailable: { reason: 'SyncWaiting', text: 'the API does not answer; it is tried again' },
  Unauthorized: { reason: 'SyncFailed', text: 'Causeway’s credentials are not accepted; ask the operator' },
  OutsideTenant: { reason: 'SyncFailed', text: 'it would leave the bounds of this cluster' },
  StillPresent: { reason: 'SyncWaiting', text: 'its counterpart is still there' },
  MassDeletion: {
    reason: 'SyncWaiting',
    text: 'its copy is gone together with very many others; nothing is deleted before that is confirmed',
  },
  Unsupported: { reason: 'SyncFailed', text: 'it cannot be expressed on the host', showAnswer: true },
  PatchLoop: {
    reason: 'SyncFailed',
    text: 'a change by the configuration of this cluster has no inverse; ask the operator',
    showAnswer: true,
  },
  PoisonMessage: { reason: 'SyncFailed', text: 'it could not be processed; ask the operator' },
}

/** Every word that an Event can begin with. */
export const TOLD = Object.keys(TENANT_TEXT) as readonly Told[]

/** Where Events about objects without namespace are. */
const EVENTS_OF_NONE = 'default'

export type Announcement = {
  tenant: string
  hostNamespace: string
  /** The tenant's object. */
  ref: ObjectRef
  object: KubeObject
  /** Name of what must not be shown on the host side. */
  hostName: string
  reason: Told
  /** The API's answer. */
  message: string
  /** How often this has happened, from 1. */
  count: number
  now: number
}

/** The Event's target and body. Its name follows from object and reason: a repeat raises a count, it adds no object. */
export function announcementFor(item: Announcement): Pick<Intent, 'target' | 'write'> | undefined {
  const resource = knownResource(item.ref.resource)
  // Those that this build does not know are custom resources, whose objects alone say what they are.
  const kind = resource?.kind ?? item.object.kind
  if (kind === undefined) return undefined
  const namespace = item.ref.namespace === '' ? EVENTS_OF_NONE : item.ref.namespace
  const told = TENANT_TEXT[item.reason]
  const answer = told.showAnswer ? `: ${told.isOwn === true ? item.message : tenantAnswer(item)}` : ''
  const stem = item.ref.name.slice(0, 200).replace(/[-.]+$/, '')
  const name = `${stem}.${sha256Hex(`${item.object.metadata.uid}/${item.reason}`).slice(0, 16)}`
  const time = new Date(item.now).toISOString().replace(/\.\d+Z$/, 'Z')
  return {
    target: { tenant: item.tenant, side: 'virtual', resource: 'events', namespace, name },
    write: {
      op: 'announce',
      body: {
        apiVersion: 'v1',
        kind: 'Event',
        metadata: { name, namespace },
        involvedObject: {
          apiVersion: 'v1',
          kind,
          ...(item.ref.namespace === '' ? {} : { namespace }),
          name: item.ref.name,
          uid: item.object.metadata.uid,
          resourceVersion: item.object.metadata.resourceVersion,
        },
        type: told.isNormal === true ? 'Normal' : 'Warning',
        reason: told.reason,
        message: `${item.reason}: ${told.text}${answer}`.slice(0, 1024),
        source: { component: 'causeway' },
        firstTimestamp: time,
        lastTimestamp: time,
        count: item.count,
      },
    },
  }
}

/**
 * The API's answer in the tenant's own names: those of this object, of others of the tenant, and of the namespace. What
 * else it names of the host is hidden.
 */
function tenantAnswer({ message, hostName, hostNamespace, ref, tenant }: Announcement): string {
  const names = new Map([
    [hostNamespace, ref.namespace],
    [hostName, ref.name],
  ])
  return withoutHostNames(withoutOwnLabels(message), { names, tenant, isHidden: () => false })
}
