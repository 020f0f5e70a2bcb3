import type { KubeObject } from '#libs/kube-model'

import type { FieldProblem } from '../api-error.ts'

/** What a strategy needs from the cluster. */
export type StrategyContext = {
  /** Time of the request, RFC 3339 in whole seconds. */
  now: string
  /** Reserves a Service address, the requested one or a free one. Throws {@link AllocationError}. */
  allocateClusterIP: (requested?: string) => string
  /** Reserves a node port, the requested one or a free one. Throws {@link AllocationError}. */
  allocateNodePort: (requested?: number) => number
  /** `open`: Services stay without address and node ports until a client sets them. */
  serviceClusterIP: 'allocate' | 'open'
  /** A PriorityClass by name; without a name the one for pods that name none. @default none exist */
  priorityClass?: (name?: string) => KubeObject | undefined
  /** A StorageClass by name; without a name the one for claims that name none. @default none exist */
  storageClass?: (name?: string) => KubeObject | undefined
}

/** An address or port cannot be had; the message says why, in the API's words. */
export class AllocationError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'AllocationError'
  }
}

/**
 * What a server does to the objects of a resource between reading and storing them. The `prepare` functions change
 * `next` in place, which is complete with the defaults of its version.
 */
export type Strategy = {
  prepareCreate: (object: KubeObject, context: StrategyContext) => void
  prepareUpdate: (next: KubeObject, previous: KubeObject, context: StrategyContext) => void
  /** A write to the status subresource: only the status moves. */
  prepareStatusUpdate: (next: KubeObject, previous: KubeObject, context?: StrategyContext) => void
  /** What is wrong with the object, and with the change from `previous`. Empty: it can be stored. */
  validate: (object: KubeObject, previous?: KubeObject) => FieldProblem[]
}

/** Where kinds differ. All parts are optional; the common rules apply in any case. */
export type KindRules = {
  /** What is wrong with a name. @default the rules for DNS subdomains */
  nameProblems?: (name: string) => string[]
  /** Whether `metadata.generation` counts changes of everything but metadata and status. @default false */
  hasGeneration?: boolean
  /** Whether a client may set the status when it creates the object. @default false */
  keepsStatusOnCreate?: boolean
  /** Whether writes to the status leave labels alone. @default true outside the core group */
  locksLabelsInStatus?: boolean
  prepareCreate?: (object: KubeObject, context: StrategyContext) => void
  prepareUpdate?: (next: KubeObject, previous: KubeObject, context: StrategyContext) => void
  prepareStatusUpdate?: (next: KubeObject, previous: KubeObject) => void
  /** Problems of a new object only, before those of the object itself. */
  validateCreate?: (object: KubeObject) => FieldProblem[]
  /** Problems of the object itself, on create and on every change of it. */
  validate?: (object: KubeObject) => FieldProblem[]
  /** Problems of the status, where that changes. */
  validateStatus?: (object: KubeObject) => FieldProblem[]
  /** Problems of a change, after those of the object. */
  validateUpdate?: (next: KubeObject, previous: KubeObject) => FieldProblem[]
}
