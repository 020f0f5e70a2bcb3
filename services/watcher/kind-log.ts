import type { Bus } from '#libs/bus'
import type { Clock } from '#libs/kernel'
import { type KubeObject, resourceToken } from '#libs/kube-model'
import { type TraceContext, type Tracing, changeSpans, parseTraceparent } from '#libs/telemetry'
import { ANNOTATIONS } from '#libs/translation'
import type { Vault } from '#libs/vault'
import { withUniqueId } from './change-lane.ts'
import {
  type ChangeContext,
  type ObjectChange,
  changeMessage,
  markerMessage,
  ownerOfMarker,
  tombstoneOf,
} from './change-message.ts'
import { CheckpointTracker, type Ticket } from './checkpoint-tracker.ts'
import type { Verdict } from './confirm-missing.ts'
import { type KindScope, needsManagedFields } from './kind-scope.ts'
import { type Known, KnownObjects, nameOf } from './known-objects.ts'
import type { LaneSet } from './lane-set.ts'
import type { WatcherMetrics } from './metrics.ts'
import { readKnown } from './read-known.ts'

export type KindLogOptions = {
  bus: Bus
  scope: KindScope
  lanes: LaneSet
  vault: Vault
  metrics: WatcherMetrics
  tracing: Tracing
  clock: Clock
}

/** The log's side of one watch: what it holds of the kind, and what goes to it. */
export class KindLog {
  readonly tracker = new CheckpointTracker()
  /** Grows with every list. */
  epoch = 0
  /**
   * Makes the message ids of this run differ from those of runs before, where it must. A resumed run repeats what came after its position; were
   * only the younger half of that dropped as doubles, the log would end with an older state.
   */
  idSuffix = ''
  readonly #options: KindLogOptions
  readonly #context: ChangeContext
  #known: KnownObjects | undefined
  /** Names of objects that the log has for an earlier registration of their tenant only. */
  readonly #former = new Set<string>()

  constructor(options: KindLogOptions) {
    this.#options = options
    const { scope, vault } = options
    this.#context = {
      side: scope.side,
      resource: scope.resource,
      vault,
      partitionOf: (tenant) => scope.partitionOf(tenant),
      ownerOf: (tenant) => scope.ownerOf(tenant),
    }
  }

  /** Undefined until a list has needed it. */
  get known(): KnownObjects | undefined {
    return this.#known
  }

  /** Reads what the log holds, once. Before that everything published must be safe. */
  async loadKnown(signal: AbortSignal): Promise<KnownObjects> {
    if (this.#known !== undefined) return this.#known
    const { bus, scope, clock } = this.#options
    const known = new KnownObjects()
    for (const { change } of await readKnown(bus, { filter: scope.knownFilter, clock, signal })) {
      const { key, uid, resourceVersion, type } = change
      if (type === 'DELETED' || type === 'SYNCED') continue
      // What the host has of its own is another watch's.
      if (scope.labelSelector !== undefined && key.tenant === '') continue
      known.set({ tenant: key.tenant, namespace: key.namespace, name: key.name, uid, resourceVersion })
      const owner = scope.ownerOf(key.tenant)
      if (change.owner !== undefined && owner !== undefined && change.owner !== owner) this.#former.add(nameOf(key))
    }
    this.#known = known
    return known
  }

  /** Whether the log has an object for an earlier registration of its tenant only, whose changes nobody reads any more. */
  isFormer(known: Known): boolean {
    return this.#former.has(nameOf(known))
  }

  /** Publishes a change; the ticket settles when it is stored. */
  publish(change: Omit<ObjectChange, 'epoch' | 'trace'>, ticket: Ticket, options: { unique?: boolean } = {}): void {
    const { lanes, metrics, scope, tracing } = this.#options
    const { known, type, object } = change
    // The copy says which trace it was made in: what the host makes of it is seen with that.
    const madeBy = scope.side === 'host' ? object.metadata.annotations?.[ANNOTATIONS.trace] : undefined
    const trace = tracing.begin(parseTraceparent(madeBy))
    const message = changeMessage(this.#context, { ...change, epoch: this.epoch, trace })
    if (this.idSuffix !== '') message.headers['Nats-Msg-Id'] += this.idSuffix
    this.#former.delete(nameOf(known))
    if (type === 'DELETED') this.#known?.delete(known)
    else this.#known?.set(known)
    metrics.event(scope.side, resourceToken(scope.resource), type)
    lanes.lane(known.tenant).add({
      subject: message.subject,
      uid: known.uid,
      isDeletion: type === 'DELETED',
      ...(options.unique === true ? { message: withUniqueId(message), isApart: true } : { message }),
      settle: () => ticket.settle(),
      ...(tracing.isOn ? { stored: this.#traced(change, { trace, madeBy }) } : {}),
    })
  }

  /** Records the spans of a change when it is in the log, or refused there. */
  #traced(
    { type, known, observedAt }: Omit<ObjectChange, 'epoch' | 'trace'>,
    { trace, madeBy }: { trace: TraceContext; madeBy: string | undefined },
  ): (error?: Error) => void {
    const { tracing, scope, clock } = this.#options
    const { tenant, namespace, name } = known
    const about = { tenant, side: scope.side, resource: resourceToken(scope.resource), namespace, name }
    return (error) => {
      if (!trace.sampled && error === undefined) return
      const storedAt = clock.now()
      const failed = error === undefined ? {} : { error: error.name }
      const spans = changeSpans(trace, about, { type, observedAt, storedAt, madeBy, ...failed })
      if (trace.sampled) tracing.record(spans)
      else tracing.recordUnsampled(spans)
    }
  }

  /** Publishes that an object is gone which no event said so of. */
  publishGone(known: Known, resourceVersion: string): void {
    const { scope, clock } = this.#options
    const object = tombstoneOf(known, scope.resource, resourceVersion)
    const gone = { ...known, resourceVersion }
    const ticket = this.tracker.begin(undefined)
    this.publish({ type: 'DELETED', known: gone, object, observedAt: clock.now() }, ticket)
  }

  /**
   * Publishes an object as a live read found it. Under an id of its own: an older state of it may still come by the
   * watch and be followed by this one again, which must then not be dropped as a double.
   */
  publishRead(
    tenant: string,
    object: KubeObject,
    type: 'ADDED' | 'MODIFIED',
    ticket = this.tracker.begin(undefined),
  ): void {
    const { clock, scope } = this.#options
    const observedAt = clock.now()
    const read = needsManagedFields(scope) ? object : withoutManagedFields(object)
    this.publish({ type, known: knownOf(tenant, object), object: read, observedAt }, ticket, { unique: true })
  }

  /** Publishes what follows from live reads. @returns those that must be read again later */
  settleVerdicts(verdicts: readonly Verdict[], resourceVersion: string): Known[] {
    const { scope } = this.#options
    const again: Known[] = []
    for (const verdict of verdicts) {
      const { known } = verdict
      const current = this.#known?.get(known)
      // By now another object is known under the name, and the end of this one was published with it.
      if (current !== undefined && current.uid !== known.uid) continue
      switch (verdict.found) {
        case 'unclear':
          again.push(known)
          break
        case 'gone':
          this.publishGone(known, resourceVersion)
          break
        case 'replaced': {
          this.publishGone(known, resourceVersion)
          const tenant = scope.attribute(verdict.object)
          if (tenant !== undefined) this.publishRead(tenant, verdict.object, 'ADDED')
          break
        }
        case 'present': {
          if (verdict.object.metadata.resourceVersion !== (current ?? known).resourceVersion)
            this.publishRead(known.tenant, verdict.object, 'MODIFIED')
          // No watch tells what becomes of an object that has lost its label.
          if (scope.labelSelector !== undefined && scope.attribute(verdict.object) === undefined)
            again.push(knownOf(known.tenant, verdict.object))
          break
        }
      }
    }
    return again
  }

  /** Tenants that a list of this kind has been closed for, with what their markers say of them. */
  async readMarkers(filter: string, signal: AbortSignal): Promise<Map<string, string>> {
    const { bus, clock } = this.#options
    const markers = new Map<string, string>()
    for (const { change, message } of await readKnown(bus, { filter, clock, signal }))
      if (change.type === 'SYNCED') markers.set(change.key.tenant, ownerOfMarker(message))
    return markers
  }

  /** Publishes the marker that closes a list for a tenant. Everything of the list must be safe by now. */
  publishMarker(
    marker: { tenant: string; owner: string; cluster: string; resourceVersion: string; count: number },
    options: { unique?: boolean } = {},
  ): void {
    const { lanes, clock } = this.#options
    const message = markerMessage(this.#context, { ...marker, epoch: this.epoch, observedAt: clock.now() })
    const ticket = this.tracker.begin(undefined)
    lanes.lane(marker.tenant).add({
      subject: message.subject,
      uid: marker.cluster,
      isDeletion: false,
      message: options.unique === true ? withUniqueId(message) : message,
      settle: () => ticket.settle(),
    })
  }
}

/** An object by identity and version. */
export function knownOf(tenant: string, object: KubeObject): Known {
  const { namespace = '', name = '', uid = '', resourceVersion = '' } = object.metadata
  return { tenant, namespace, name, uid, resourceVersion }
}

function withoutManagedFields(object: KubeObject): KubeObject {
  const { managedFields: _, ...metadata } = object.metadata
  return { ...object, metadata }
}
