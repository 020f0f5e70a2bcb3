import type { Bus, Positions } from '#libs/bus'
import { type Clock, backoffDelay } from '#libs/kernel'
import { type ListedEvent, type ObjectEvent, type ReflectorEvent, type StateEvent, reflect } from '#libs/kube'
import { type KubeObject, resourceToken } from '#libs/kube-model'
import type { Logger } from '#libs/telemetry'
import type { Ticket } from './checkpoint-tracker.ts'
import { ClusterChangedError, type WatchedCluster } from './cluster.ts'
import { type Verdict, confirmMissing, readOne } from './confirm-missing.ts'
import { backOffState, failureState } from './failure-state.ts'
import { KeyedTasks } from './keyed-tasks.ts'
import { type KindLog, knownOf } from './kind-log.ts'
import type { KindScope } from './kind-scope.ts'
import { type Known, nameOf } from './known-objects.ts'
import type { LaneSet } from './lane-set.ts'
import type { WatcherMetrics } from './metrics.ts'
import { type WatchPosition, resumeFrom } from './position.ts'
import type { WatchState } from './status-board.ts'
import { untilAborted } from './until-aborted.ts'

export type KindWatchOptions = {
  bus: Bus
  positions: Positions<WatchPosition>
  cluster: WatchedCluster
  scope: KindScope
  log: KindLog
  lanes: LaneSet
  metrics: WatcherMetrics
  logger: Logger
  clock: Clock
  random: () => number
  fence: number
  /** Whether this process may still write. */
  held: () => boolean
  /** Tells the tenant from an earlier one of its name; the same text for ever for the host. */
  owner: string
  /** When the stream of changes was created. */
  logCreated: string
  report: (state: WatchState, message: string) => void
  /** Takes over what surrounds a list. Without it, a list is closed by a marker for each owner. */
  hooks?: { begun(): void; closed(listed: ListedEvent): void }
}

const SAVE_EVERY_MS = 1_000
const RECHECK_EVERY_MS = 15_000
/** Objects to be read again that a position holds. A list finds the others. */
const RECHECK_STORED = 500
const DRAIN_MS = 5_000
const RETRY = { baseMs: 500, capMs: 15_000 }
/** Deletions that are confirmed at once. */
const PARALLEL_READS = 16

/**
 * One watch, from the API to the log: publishes what the reflector brings, confirms by name what it misses, closes lists
 * with markers and keeps the position. One event at a time; only deletions that must be confirmed overlap, in order per
 * object.
 */
export class KindWatch {
  readonly #options: KindWatchOptions
  readonly #tasks = new KeyedTasks(PARALLEL_READS)
  readonly #failure = Promise.withResolvers<never>()
  /** To be read again by name: no clear answer so far, or without its label. */
  #recheck = new Map<string, Known>()
  #turn: Promise<unknown> = Promise.resolve()
  #stored = ''
  #saving = false
  #lastVersion = ''
  #synced = false
  /** Whether this owner has not had anything published to it: then nothing may be left out as known. */
  #republish = false

  constructor(options: KindWatchOptions) {
    this.#options = options
    this.#failure.promise.catch(() => undefined)
  }

  /** Whether everything that is there has been published once, and what happens since is. */
  get synced(): boolean {
    return this.#synced
  }

  /**
   * Runs until the signal aborts; then stores the position, if this process may still write.
   * @throws ClusterChangedError, BusError `Fenced`
   */
  async run(signal: AbortSignal): Promise<void> {
    const { positions, scope, cluster, log, owner, logCreated, clock, fence } = this.#options
    const claimed = await positions.claim(scope.positionKey, fence)
    const now = { cluster: cluster.identity, owner, log: logCreated, time: clock.now() }
    const resume = resumeFrom(claimed?.value, now)
    log.epoch = resume.epoch
    log.idSuffix = resume.idsRemembered && !resume.isNewOwner ? '' : `/${fence}`
    this.#republish = resume.isNewOwner
    this.#stored = resume.resourceVersion ?? ''
    this.#lastVersion = resume.resourceVersion ?? ''
    this.#recheck = new Map(resume.recheck.map((known) => [nameOf(known), known]))
    const stop = new AbortController()
    const timers = [
      setInterval(() => void this.#save().catch((error: unknown) => this.#fail(error)), SAVE_EVERY_MS),
      setInterval(() => {
        if (this.#recheck.size > 0 && this.#synced)
          this.inTurn(() => this.#checkAgain(signal)).catch((error: unknown) => this.#fail(error))
      }, RECHECK_EVERY_MS),
    ]
    try {
      const ended = AbortSignal.any([signal, stop.signal])
      await Promise.race([this.#follow(resume.resourceVersion, ended), this.#failure.promise])
    } catch (error) {
      if (!signal.aborted) throw error
    } finally {
      for (const timer of timers) clearInterval(timer)
      stop.abort()
    }
    if (this.#options.held()) await this.#drain()
  }

  /** Runs a step between two events. */
  inTurn<T>(step: () => Promise<T>): Promise<T> {
    const turn = this.#turn.then(step)
    this.#turn = turn.catch(() => undefined)
    return turn
  }

  /** Everything handed out so far is in the log. */
  async settled(signal: AbortSignal): Promise<void> {
    await untilAborted(this.#tasks.idle(), signal)
    await untilAborted(this.#options.log.tracker.idle(), signal)
    signal.throwIfAborted()
  }

  /** Reads objects by name and publishes what follows; those without a clear answer are read again from time to time. */
  async confirm(
    missing: readonly Known[],
    resourceVersion: string,
    signal: AbortSignal,
  ): Promise<Record<Verdict['found'], number>> {
    const { cluster, scope, log, lanes } = this.#options
    const found = { gone: 0, replaced: 0, present: 0, unclear: 0 }
    for await (const verdicts of confirmMissing({ cluster, resource: scope.resource, missing, signal })) {
      signal.throwIfAborted()
      for (const known of log.settleVerdicts(verdicts, resourceVersion)) this.#recheck.set(nameOf(known), known)
      for (const verdict of verdicts) found[verdict.found]++
      await lanes.room(signal)
    }
    return found
  }

  async #follow(checkpoint: string | undefined, signal: AbortSignal): Promise<void> {
    const { cluster, scope, log, lanes, clock, random } = this.#options
    const events = reflect({
      // The client behind may be replaced while the watch goes on.
      client: {
        source: cluster.client.source,
        listPage: (resource, list) => cluster.client.listPage(resource, list),
        watch: (resource, watch) => cluster.client.watch(resource, watch),
      },
      resource: scope.resource,
      labelSelector: scope.labelSelector,
      checkpoint,
      known: () => log.known?.values() ?? [],
      clock,
      random,
      signal,
    })
    for await (const event of events) {
      if (signal.aborted) return
      await this.inTurn(() => this.#handle(event, signal))
      await this.#tasks.room()
      await lanes.room(signal)
    }
  }

  async #handle(event: ReflectorEvent, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return
    switch (event.type) {
      case 'STATE':
        return await this.#onState(event, signal)
      case 'BOOKMARK':
        this.#lastVersion = event.resourceVersion
        this.#options.log.tracker.begin(event.resourceVersion).settle()
        return
      case 'LISTED':
        return await this.#closeList(event, signal)
      case 'ADDED':
      case 'MODIFIED':
      case 'DELETED':
        return this.#onObject(event, signal)
    }
  }

  async #onState(event: StateEvent, signal: AbortSignal): Promise<void> {
    const { log, report, metrics, scope } = this.#options
    switch (event.state) {
      case 'backing-off': {
        const { state, message } = backOffState(event.message)
        metrics.error(scope.side, resourceToken(scope.resource))
        report(state, message)
        return
      }
      case 'listing':
        report('listing', '')
        await this.#verify(signal)
        await this.settled(signal)
        await log.loadKnown(signal)
        log.epoch++
        this.#options.hooks?.begun()
        return
      case 'watching':
        await this.#verify(signal)
        this.#synced = true
        report('synced', '')
        return
    }
  }

  #onObject(event: ObjectEvent, signal: AbortSignal): void {
    const { scope, log } = this.#options
    const { object, type, initial } = event
    const ticket = log.tracker.begin(initial ? undefined : object.metadata.resourceVersion)
    if (!initial) this.#lastVersion = object.metadata.resourceVersion
    const tenant = scope.attribute(object) ?? this.#formerTenant(object)
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
      if (!signal.aborted) this.#fail(error)
    })
  }

  #publish(event: ObjectEvent, known: Known, ticket: Ticket): void {
    const { log } = this.#options
    const before = log.known?.get(known)
    if (before !== undefined && before.uid !== known.uid) {
      // The name has another object now: that the former is gone was missed.
      if (event.type === 'DELETED') {
        ticket.settle()
        return
      }
      log.publishGone(before, known.resourceVersion)
    } else if (event.initial && !this.#republish && before?.resourceVersion === known.resourceVersion) {
      ticket.settle()
      return
    }
    const { type, object, raw, observedAt } = event
    if (type === 'DELETED') this.#recheck.delete(nameOf(known))
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

  /** Whose an object was as it was published last, for one that has been relabelled. */
  #formerTenant(object: KubeObject): string | undefined {
    const { scope, log } = this.#options
    if (scope.labelSelector === undefined) return undefined
    const known = log.known?.get(knownOf('', object))
    const isOwner = scope.owners().some(({ tenant }) => tenant === known?.tenant)
    return known?.uid === object.metadata.uid && isOwner ? known?.tenant : undefined
  }

  async #closeList(listed: ListedEvent, signal: AbortSignal): Promise<void> {
    const { log, scope, metrics, logger, cluster, hooks } = this.#options
    const resource = resourceToken(scope.resource)
    metrics.list(scope.side, resource)
    this.#lastVersion = listed.resourceVersion
    const missing = listed.missing.flatMap((object) => {
      const known = log.known?.get(object)
      return known?.uid === object.uid ? [known] : []
    })
    if (missing.length > 0) {
      const before = log.known?.size ?? 0
      const isMass = (listed.count === 0 && before >= 10) || (before >= 20 && missing.length * 2 > before)
      const fields = { cluster: cluster.name, resource, known: before, missing: missing.length }
      if (isMass) logger.warn(fields, 'a list misses most of what was known; each object is read by name')
      const found = await this.confirm(missing, listed.resourceVersion, signal)
      if (found.present > 0 || found.unclear > 0)
        logger.warn({ ...fields, ...found }, 'a list left out objects that are there')
    }
    await this.settled(signal)
    if (hooks !== undefined) hooks.closed(listed)
    else {
      for (const { tenant, owner } of scope.owners()) {
        const { resourceVersion, count } = listed
        log.publishMarker({ tenant, owner, cluster: cluster.identity, resourceVersion, count })
      }
    }
    this.#republish = false
    log.tracker.begin(listed.resourceVersion).settle()
    await this.settled(signal)
  }

  async #checkAgain(signal: AbortSignal): Promise<void> {
    if (this.#recheck.size === 0 || signal.aborted || !this.#synced) return
    const due = [...this.#recheck.values()]
    this.#recheck = new Map()
    await this.#tasks.idle()
    try {
      await this.confirm(due, this.#lastVersion, signal)
    } catch (error) {
      if (!signal.aborted) throw error
    }
  }

  /** Waits until the cluster has said who it is. */
  async #verify(signal: AbortSignal): Promise<void> {
    const { cluster, report, clock, random } = this.#options
    for (let attempt = 0; ; attempt++) {
      try {
        await cluster.verify({ signal })
        return
      } catch (error) {
        if (error instanceof ClusterChangedError || signal.aborted) throw error
        const { state, message } = failureState(error)
        report(state, message)
      }
      await clock.sleep(backoffDelay(RETRY, attempt, random), signal)
    }
  }

  async #save(): Promise<void> {
    const { positions, scope, log, cluster, owner, logCreated, clock, fence, held } = this.#options
    const resourceVersion = log.tracker.safe
    if (this.#saving || resourceVersion === undefined || resourceVersion === this.#stored || !held()) return
    this.#saving = true
    try {
      const place = { resourceVersion, epoch: log.epoch, cluster: cluster.identity, owner, log: logCreated }
      const recheck = [...this.#recheck.values()].slice(0, RECHECK_STORED)
      await positions.store(scope.positionKey, { fence, value: { ...place, storedAt: clock.now(), recheck } })
      this.#stored = resourceVersion
    } catch (error) {
      if ((error as { code?: string }).code !== 'KvFailed') throw error
      this.#options.logger.warn({ position: scope.positionKey, err: error }, 'position could not be stored')
    } finally {
      this.#saving = false
    }
  }

  async #drain(): Promise<void> {
    const deadline = AbortSignal.timeout(DRAIN_MS)
    await untilAborted(this.#options.log.tracker.idle(), deadline)
    await this.#save()
  }

  #fail(error: unknown): void {
    this.#failure.reject(error)
  }
}

/** The object's own last state says that nothing keeps it any longer. */
function isSurelyGone(object: KubeObject): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds = 0, finalizers = [] } = object.metadata
  return deletionTimestamp !== undefined && deletionGracePeriodSeconds === 0 && finalizers.length === 0
}
