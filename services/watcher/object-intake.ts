import { type Clock, backoffDelay } from '#libs/kernel'
import type { ObjectEvent } from '#libs/kube'
import type { KubeObject } from '#libs/kube-model'
import type { Ticket } from './checkpoint-tracker.ts'
import type { WatchedCluster } from './cluster.ts'
import { type Verdict, confirmMissing, readOne } from './confirm-missing.ts'
import { KeyedTasks } from './keyed-tasks.ts'
import { type KindLog, knownOf } from './kind-log.ts'
import type { KindScope } from './kind-scope.ts'
import { type Known, nameOf } from './known-objects.ts'
import type { LaneSet } from './lane-set.ts'

export type ObjectIntakeOptions = {
  cluster: WatchedCluster
  scope: KindScope
  log: KindLog
  lanes: LaneSet
  clock: Clock
  random: () => number
  onFailure: (error: unknown) => void
}

const RETRY = { baseMs: 500, capMs: 15_000 }
/** Deletions that are confirmed at once. */
const PARALLEL_READS = 16

/**
 * Takes objects in, from events and from live reads, and publishes what is new about them, in order per object. Whatever
 * might pass for a deletion without being one is read by name first.
 */
export class ObjectIntake {
  /** Whether even what is known must be published: its owner has not had any of it. */
  republish = false
  readonly #options: ObjectIntakeOptions
  readonly #tasks = new KeyedTasks(PARALLEL_READS)
  /** To be read again by name: no clear answer so far, or without its label. */
  #recheck = new Map<string, Known>()

  constructor(options: ObjectIntakeOptions) {
    this.#options = options
  }

  get recheck(): Known[] {
    return [...this.#recheck.values()]
  }

  set recheck(objects: readonly Known[]) {
    this.#recheck = new Map(objects.map((known) => [nameOf(known), known]))
  }

  /** Takes one event. What must be read first is published later; `room` and `idle` tell when. */
  take(event: ObjectEvent, signal: AbortSignal): void {
    const { scope, log, onFailure } = this.#options
    const { object, type, initial } = event
    const ticket = log.tracker.begin(initial ? undefined : object.metadata.resourceVersion)
    const attributed = scope.attribute(object)
    const tenant = this.#formerTenant(object) ?? attributed
    if (tenant === undefined) {
      ticket.settle()
      return
    }
    const known = knownOf(tenant, object)
    const mustConfirm = type === 'DELETED' && scope.labelSelector !== undefined && !isSurelyGone(object)
    const name = nameOf(known)
    if (!mustConfirm && !this.#tasks.isBusy(name)) {
      this.#publish(event, known, ticket)
      return
    }
    const task = this.#tasks.run(name, async () => {
      if (mustConfirm) await this.#publishConfirmed(event, { known, ticket, signal })
      else this.#publish(event, known, ticket)
    })
    task.catch((error: unknown) => {
      if (!signal.aborted) onFailure(error)
    })
  }

  /** Resolves when few enough objects wait for a live read to take more. */
  room(): Promise<void> {
    return this.#tasks.room()
  }

  /** Resolves when no object waits for a live read. */
  idle(): Promise<void> {
    return this.#tasks.idle()
  }

  /**
   * Reads objects by name and publishes what follows; those without a clear answer are kept in `recheck`.
   * @returns how many were found how; `selected` are those of the present ones that a list has to have
   * @throws ClusterChangedError, or the signal's reason
   */
  async confirm(
    missing: readonly Known[],
    resourceVersion: string,
    signal: AbortSignal,
  ): Promise<Record<Verdict['found'] | 'selected', number>> {
    const { cluster, scope, log, lanes } = this.#options
    const found = { gone: 0, replaced: 0, present: 0, unclear: 0, selected: 0 }
    for await (const verdicts of confirmMissing({ cluster, resource: scope.resource, missing, signal })) {
      signal.throwIfAborted()
      for (const known of log.settleVerdicts(verdicts, resourceVersion)) this.#recheck.set(nameOf(known), known)
      for (const verdict of verdicts) {
        found[verdict.found]++
        if (verdict.found === 'present' && scope.attribute(verdict.object) !== undefined) found.selected++
      }
      await lanes.room(signal)
    }
    return found
  }

  /** Reads again what had no clear answer. */
  async confirmAgain(resourceVersion: string, signal: AbortSignal): Promise<void> {
    const due = this.recheck
    if (due.length === 0) return
    this.#recheck = new Map()
    await this.#tasks.idle()
    await this.confirm(due, resourceVersion, signal)
  }

  #publish(event: ObjectEvent, known: Known, ticket: Ticket): void {
    const { log } = this.#options
    const before = log.known?.get(known)
    // The watch has it again, or it is gone.
    this.#recheck.delete(nameOf(known))
    if (before !== undefined && before.uid !== known.uid) {
      // The name has another object now: that the former is gone was missed.
      if (event.type === 'DELETED') {
        ticket.settle()
        return
      }
      log.publishGone(before, known.resourceVersion)
    } else if (
      event.initial &&
      !this.republish &&
      before?.resourceVersion === known.resourceVersion &&
      !log.isFormer(known)
    ) {
      ticket.settle()
      return
    }
    const { type, object, raw, observedAt } = event
    log.publish({ type, known, object, raw, observedAt }, ticket)
  }

  /**
   * For a watch with a selector, an object that lost its label is deleted, too. Only a live read can tell; the position
   * stays before the event until there is an answer.
   */
  async #publishConfirmed(
    event: ObjectEvent,
    { known, ticket, signal }: { known: Known; ticket: Ticket; signal: AbortSignal },
  ): Promise<void> {
    const { cluster, scope, log, clock, random } = this.#options
    for (let attempt = 0; !signal.aborted; attempt++) {
      const verdict = await readOne({ cluster, resource: scope.resource, known, signal })
      if (verdict.found === 'present') {
        log.publishRead(known.tenant, verdict.object, 'MODIFIED', ticket)
        this.#recheck.set(nameOf(known), knownOf(known.tenant, verdict.object))
        return
      }
      if (verdict.found !== 'unclear') return this.#publish(event, known, ticket)
      await clock.sleep(backoffDelay(RETRY, attempt, random), signal)
    }
  }

  /** Whose an object was as it was published last: a label that says otherwise by now was changed by somebody. */
  #formerTenant(object: KubeObject): string | undefined {
    const { scope, log } = this.#options
    if (scope.labelSelector === undefined) return undefined
    const known = log.known?.get(knownOf('', object))
    const isOwner = scope.owners().some(({ tenant }) => tenant === known?.tenant)
    return known?.uid === object.metadata.uid && isOwner ? known?.tenant : undefined
  }
}

/** The object's own last state says that nothing keeps it any longer. */
function isSurelyGone(object: KubeObject): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds = 0, finalizers = [] } = object.metadata
  return deletionTimestamp !== undefined && deletionGracePeriodSeconds === 0 && finalizers.length === 0
}
