import {
  type ChangeType,
  type LogMessage,
  MARKER_NAME,
  type Partition,
  type WireMessage,
  encodeChange,
  encodePayload,
  parsePayload,
  tombstoneTtl,
} from '#libs/events'
import { type KubeObject, type ResourceInfo, type Side, apiVersionOf, resourceToken } from '#libs/kube-model'
import { type TraceContext, formatTraceparent } from '#libs/telemetry'
import type { Vault } from '#libs/vault'
import type { Known } from './known-objects.ts'

/** What the changes of one kind on one cluster have in common. */
export type ChangeContext = {
  side: Side
  resource: ResourceInfo
  vault: Vault
  partitionOf(tenant: string): Partition
  /** Uid of a tenant's registration; undefined for none. */
  ownerOf(tenant: string): string | undefined
}

export type ObjectChange = {
  type: Exclude<ChangeType, 'SYNCED'>
  known: Known
  object: KubeObject
  /** The watch line with the object, if there is one. */
  raw?: Uint8Array
  epoch: number
  observedAt: number
  trace: TraceContext
}

/** An object's change as a message. Objects that the vault covers are sealed, all others go as they came. */
export function changeMessage(context: ChangeContext, change: ObjectChange): WireMessage {
  const { type, known, object, epoch, observedAt } = change
  const owner = context.ownerOf(known.tenant)
  const { tenant, namespace, name, uid, resourceVersion } = known
  const resource = resourceToken(context.resource)
  const key = { tenant, side: context.side, resource, namespace, name }
  const sealed = context.vault.covers(resource)
  const payload =
    change.raw === undefined || sealed
      ? encodePayload({ type, object: sealed ? context.vault.seal(key, object) : object })
      : change.raw
  return encodeChange(
    {
      type,
      key,
      kind: context.resource.kind,
      uid,
      resourceVersion,
      epoch,
      observedAt,
      traceparent: formatTraceparent(change.trace),
      ...(owner === undefined ? {} : { owner }),
    },
    {
      partition: context.partitionOf(tenant),
      payload,
      ...(type === 'DELETED' ? { ttl: tombstoneTtl() } : {}),
    },
  )
}

/** The marker that closes a list: what it did not bring, and what is not in the log, does not exist. */
export function markerMessage(
  context: ChangeContext,
  marker: {
    tenant: string
    cluster: string
    resourceVersion: string
    epoch: number
    observedAt: number
    count: number
    owner: string
  },
): WireMessage {
  const { tenant, cluster, resourceVersion, epoch, observedAt, count, owner } = marker
  const key = {
    tenant,
    side: context.side,
    resource: resourceToken(context.resource),
    namespace: '',
    name: MARKER_NAME,
  }
  return encodeChange(
    {
      type: 'SYNCED',
      key,
      kind: context.resource.kind,
      uid: cluster,
      resourceVersion,
      epoch,
      observedAt,
      ...(owner === '' ? {} : { owner }),
    },
    { partition: context.partitionOf(tenant), payload: encodePayload({ type: 'SYNCED', count, owner }) },
  )
}

/** Who a marker was made for: tells a tenant from an earlier one of its name. */
export function ownerOfMarker(message: LogMessage): string {
  return (parsePayload(message) as { owner?: string } | null)?.owner ?? ''
}

/** What is left of an object that is gone: who it was. */
export function tombstoneOf(known: Known, resource: ResourceInfo, resourceVersion: string): KubeObject {
  const { namespace, name, uid } = known
  const metadata = { name, ...(namespace === '' ? {} : { namespace }), uid, resourceVersion }
  return { apiVersion: apiVersionOf(resource), kind: resource.kind, metadata }
}
