import type { PodTokens, Reason, SidedRef, Write, WriteName } from '#libs/events'
import type { JsonObject, KubeObject, ObjectRef, ResourceInfo, Side } from '#libs/kube-model'
import type { TenantConfig } from '#libs/sync-config'
import type { Decision, Rule } from './decision.ts'
import type { Related, TenantContext, View } from './view.ts'

/** What a kind's functions get: plain data and reads, nothing else. */
export type TranslateInput = { virtual: KubeObject; tenant: TenantContext; related: Related }

/** The same with the host copy. */
export type PairInput = TranslateInput & {
  host: KubeObject
  base?: JsonObject
  /** Sequences in CHANGES of the two states: what a deletion is proven by. */
  seq: { virtual: number; host: number }
}

/** The desired host object, or why there cannot be one. */
export type ToHost =
  | {
      kind: 'object'
      object: KubeObject
      base?: JsonObject
      /** The tenant's objects, besides its references, whose copies must be on the host before. */
      needs?: ObjectRef[]
      tokens?: PodTokens
    }
  | { kind: 'reject'; reason: Reason; message: string }

/** A change to one side of a pair. */
export type PairWrite = {
  side: Side
  write: Write
  rule: Rule
  needs?: SidedRef[]
  base?: JsonObject
  /** See `Decision.overruled`. */
  overruled?: string[]
}

/**
 * What happens to one kind that crosses from the tenant to the host. All functions are pure: data in, data out, no
 * clock, no mutation of the input, no throw for bad input.
 */
export type Kind = {
  resource: ResourceInfo
  /** Raised with every change of what the functions yield. */
  version: number
  /**
   * `pod`: deletion in both directions, with its grace, and a host copy that is gone takes the tenant's object with it.
   * `plain`: the tenant's object rules; a host copy that is gone is made again.
   */
  lifecycle: 'pod' | 'plain'
  /** Whether the tenant's configuration lets objects of this kind cross. Where it no longer does, the copies go. */
  isEnabled(config: TenantConfig): boolean
  /** Writes to host copies. @default create, patch, delete */
  hostWrites?: readonly WriteName[]
  /** Writes to the tenant's objects that `reconcile` and the life cycle may lead to; the writer makes no others. */
  virtualWrites: readonly WriteName[]
  /** Whether objects cross only while another object that crosses refers to them. */
  onlyWhileUsed: boolean
  /** Whether the tenant's configuration lets unused ones cross as well. @default it does not */
  crossesUnused?(config: TenantConfig): boolean
  /**
   * Whether the tenant's object may be made anew (`replace`). Its copy is then deleted in no other state than the one
   * that was looked at: it may carry a replacement by now. @default false
   */
  mayBeReplaced?: boolean
  /** Whether decisions look at who has set which field, which few do and which makes objects twice as large. @default false */
  readsManagedFields?: boolean
  /**
   * For the life cycle `plain`: whether the copy stays while the tenant's object is on its way out, and goes when that is
   * gone. @default it goes with the tenant's object
   */
  endsWithOriginal?: boolean
  /** Virtual objects that this one refers to. Either side may be absent. */
  references(pair: { virtual?: KubeObject | undefined; host?: KubeObject | undefined }): ObjectRef[]
  /** Those of the references without which the object would not start, so that creation waits a moment for them. */
  requiredReferences(virtual: KubeObject, tenant: TenantContext): ObjectRef[]
  /**
   * Kinds that cross only while used and that objects of this one refer to, by resource token. Until all objects of this
   * kind are known, none of those is taken to be unused. @default none
   */
  refersTo?: readonly string[]
  /** Resources of references that are decided about again with each change of an object of this kind, on either side. @default none */
  informs?: readonly string[]
  /** Further kinds of the tenant that decisions look at, whether or not those cross themselves. @default none */
  reads?: readonly ResourceInfo[]
  /**
   * Resources of references with each change of which, on either side, the object is decided about again. A reference
   * with an empty name stands for all objects of its namespace. @default none
   */
  followsReferences?: readonly string[]
  /**
   * Whether an object of this kind does not cross, such as `default/kubernetes`. `unknown` while that cannot be told:
   * then nothing is done.
   */
  excluded(virtual: KubeObject, related: Related): boolean | 'unknown'
  /**
   * Whether a host object that has the copy's name and none of its stamps was made by the host for another copy of the
   * tenant's: it is deleted to make room. @default it is not, and is left alone
   */
  isDerived?(input: TranslateInput & { host: KubeObject }): boolean
  /**
   * Host objects that the host made for the copy and has left behind, although nobody keeps them up any more: they are
   * deleted, by the same rule. @default none
   */
  leftBehind?(input: PairInput): { ref: ObjectRef; object: KubeObject }[]
  /**
   * For the life cycle `pod`: whether this very object must have had a copy before, also where the log does not know of
   * one. @default whether a kubelet has started it
   */
  hasRun?(virtual: KubeObject, related: Related): boolean
  /**
   * For the life cycle `pod`: whether the object was given to something of the tenant's own to run, so that nothing
   * follows from a copy that is not there. @default it was not
   */
  isPlacedInTenant?(virtual: KubeObject, related: Related): boolean
  /** For the life cycle `pod`: writes that let an object go that is terminating and has no copy any more. @default none */
  release?(virtual: KubeObject, related: Related): PairWrite[]
  /** The whole host object, with translated name, stamps and references. */
  toHost(input: TranslateInput): ToHost
  /**
   * Writes that bring two existing objects to agree: the smallest patches in either direction. The tenant's object may
   * be terminating, the host's never is unless the tenant's is.
   */
  reconcile(input: PairInput): PairWrite[]
  /** What keeps the two from agreeing although nothing is left to be written. */
  disagreement?(input: PairInput): { reason: Reason; message: string } | undefined
}

/**
 * What happens to one kind whose originals are on the host and concern all tenants: each tenant that wants them gets
 * copies of the same name. Pure, as kinds are.
 */
export type Mirror = {
  resource: ResourceInfo
  version: number
  /** Whether the tenant's configuration asks for the kind. Where it no longer does, the copies in the tenant go. */
  isEnabled(config: TenantConfig): boolean
  /** Whether a copy is there only while an object of the tenant refers to it, rather than for every original. */
  onlyWhileUsed: boolean
  virtualWrites: readonly WriteName[]
  /** Of a kind that is only there while used: whether this tenant may see others as well. @default it does not */
  showsUnused?(config: TenantConfig): boolean
  /** Whether the host's objects are read; otherwise copies follow from other kinds alone. @default true */
  readsOriginals?: boolean
  /** Host namespaces whose objects are read, where not all are. @default all */
  namespacesOf?(tenant: TenantContext): string[]
  /** The host object that appears in the tenant under this name. @default the one of the same name */
  originalOf?(copy: ObjectRef, tenant: TenantContext): ObjectRef | undefined
  /** Where a host object appears in the tenant: the inverse of `originalOf`. @default under its own name */
  copiesOf?(original: ObjectRef, tenant: TenantContext): ObjectRef[]
  /** Resource whose objects in the tenant are looked at for copies of the same name: with each change of one, that is decided again. */
  follows?: string
  /** Decides about the tenant's copy; `view.host` is the original. Called also where the kind is not enabled. */
  decide(view: View): Decision[]
}

/** A host object that a report is about, as the report names it. */
export type ReportSubject = {
  kind: string
  /** API group, empty for the core group; absent where the report does not say. */
  group?: string
  namespace: string
  name: string
  uid?: string
}

/** What a report is translated by: plain data. */
export type ReportInput = {
  report: KubeObject
  tenant: TenantContext
  /** The tenant's object and its copy, which the report is about. */
  original: KubeObject
  copy: KubeObject
  resource: ResourceInfo
  /** What the original refers to. */
  references: readonly ObjectRef[]
  /** Whether a word names something of the host that the tenant does not see, such as a node. @default none does */
  isHidden?: (word: string) => boolean
}

/**
 * A kind whose objects on the host say something about tenants' copies and carry no label of ours. The tenant gets each
 * of them about its own object (`announce`); nothing is remembered of them.
 */
export type Report = {
  resource: ResourceInfo
  version: number
  isEnabled(config: TenantConfig): boolean
  /** What it is about; `undefined` for what tenants are not to be told. */
  subjectOf(report: KubeObject): ReportSubject | undefined
  /** The object that the tenant gets; `undefined` for what is of the host alone. */
  forTenant(input: ReportInput): KubeObject | undefined
}
