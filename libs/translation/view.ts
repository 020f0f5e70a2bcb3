import type { JsonObject, KubeObject, ObjectRef, Side } from '#libs/kube-model'
import type { TenantConfig } from '#libs/sync-config'

/** What translation must know of a tenant: plain data. */
export type TenantContext = {
  name: string
  /** The host namespace in which all of the tenant's objects land. */
  hostNamespace: string
  /** What of the tenant crosses and how, with all defaults applied. */
  config: TenantConfig
  /** Label keys that must not cross under their own name. @default none */
  reservedLabels?: readonly string[]
  /**
   * Whether the tenant's API allocates no node ports of its own, so that those on its Services were asked for and are
   * to be the host's. Otherwise only those of `kubectl apply` are known to be. @default false
   */
  nodePortsAreChosen?: boolean
}

/** An observed deletion. */
export type Tombstone = {
  uid: string
  /** Sequence in CHANGES of the deletion. */
  seq: number
  /** On the host: the uid of the virtual object that the deleted copy stood for. */
  virtualUid?: string
}

/** What is known of an object on one side. */
export type Presence = {
  /** Its last state, absent when it is not there or was never seen. */
  object?: KubeObject
  /** Its last observed deletion: a positive tombstone, at this sequence of CHANGES. */
  gone?: Tombstone
  /** Sequence in CHANGES of the state or tombstone; 0 when never seen. */
  seq: number
}

/** Reads of other objects of the same tenant. They see the same state throughout one decision. */
export type Related = {
  /** A tenant's object that is there. */
  virtual(ref: ObjectRef): KubeObject | undefined
  /** The tenant's objects of a resource that are in a namespace. */
  virtualIn(resource: string, namespace: string): KubeObject[]
  /** A host object that is there: one of the tenant's copies, else one that concerns all tenants, such as a node. */
  host(ref: ObjectRef): KubeObject | undefined
  /** Objects of a resource in one of the tenant's namespaces on the host, as far as they carry its label: copies and what the host made for them. */
  hostIn(resource: string, namespace: string): KubeObject[]
  /** The virtual objects that refer to `ref`, see `Kind.references`. */
  usersOf(ref: ObjectRef): ObjectRef[]
  /** Whether a complete list of this resource has been seen, so that absence means something. Never a reason to delete. */
  synced(side: Side, resource: string): boolean
}

/** Everything a decision about one virtual object looks at. */
export type View = {
  tenant: TenantContext
  /** The virtual object's key. Mirrors of host objects (nodes) have the key of their virtual copy. */
  key: ObjectRef
  virtual: Presence
  host: Presence
  /**
   * For a resource of which both sides have originals: the host's own object that the key may be a copy of, while `host`
   * is the tenant's copy there; and whether all of those are known.
   */
  original?: Presence & { synced: boolean }
  /**
   * The host object that was made, or recognised by whole stamps, as the copy of this virtual object: what tells a copy
   * whose stamps somebody has changed from an object that was never ours. Absent when there is none that is known.
   */
  made?: { uid: string; virtualUid?: string }
  /** Values that both sides agreed on after the last write, see `Decision.base`. */
  base?: JsonObject
  related: Related
  /** How long this key has been waiting for what a `wait` decision named, in milliseconds. */
  waitedMs: number
}
