import type { Bus, Positions } from '#libs/bus'
import { type Clock, type Pacer, backoffDelay } from '#libs/kernel'
import { type ListedEvent, type ReflectorEvent, type StateEvent, reflect } from '#libs/kube'
import { type KubeObject, resourceToken } from '#libs/kube-model'
import { HOST_PLACE } from '#libs/runtime'
import type { Logger } from '#libs/telemetry'
import { DEFINITIONS, virtualRefOf } from '#libs/translation'
import { ChildAbort } from './child-abort.ts'
import { ClusterChangedError, type WatchedCluster } from './cluster.ts'
import { backOffState, failureState } from './failure-state.ts'
import type { KindLog } from './kind-log.ts'
import { type KindScope, needsManagedFields } from './kind-scope.ts'
import type { LaneSet } from './lane-set.ts'
import type { WatcherMetrics } from './metrics.ts'
import { ObjectIntake } from './object-intake.ts'
import type { WatchPosition } from './position.ts'
import { isStillEmpty } from './look-again.ts'
import { PositionKeeper } from './position-keeper.ts'
import { isStateKept } from './state-kept.ts'
import type { WatchState } from './status-board.ts'
import { untilAborted } from './until-aborted.ts'
import { verifyKind } from './verification.ts'
import type { Verifications } from './verifications.ts'
import { isAtLeast } from './versions.ts'

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
  /** @default none: it goes on as long as there are events */
  pacer?: Pacer
  random: () => number
  fence: number
  /** Whether this process may still write. */
  held: () => boolean
  /** Tells the tenant from an earlier one of its name; the same text for ever for the host. */
  owner: string
  /** When the stream of changes was created. */
  logCreated: string
  report: (state: WatchState, message: string) => void
  /** Time between two lists that what was published is compared with, in milliseconds. */
  verifyEveryMs: number
  /** Where it can be asked to compare a list at once. @default nowhere */
  verifications?: Pick<Verifications, 'add'>
  /** Takes over what surrounds a list. Without it, a list is closed by a marker for each owner. */
  hooks?: { begun(): void; closed(listed: ListedEvent): void }
}

const SAVE_EVERY_MS = 1_000
const RECHECK_EVERY_MS = 15_000
const DRAIN_MS = 5_000
/** After an interruption, all kinds look within this time whether the cluster is in a later state than before. */
const GLANCE_MS = 2_000
const RETRY = { baseMs: 500, capMs: 15_000 }
/** Lists in a row. */
const MAX_DISTRUSTED = 8

/**
 * One watch, from the API to the log: publishes what the reflector brings, confirms by name what it misses, closes lists
 * with markers and keeps the position. One event at a time.
 */
export class KindWatch {
  readonly #options: KindWatchOptions
  readonly intake: ObjectIntake
  readonly #keeper: PositionKeeper
  readonly #failure = Promise.withResolvers<never>()
  #turn: Promise<unknown> = Promise.resolve()
  #lastVersion = ''
  #synced = false
  /** Whether the next watch goes on from a version of before an interruption. */
  #isResumed = true
  /** Ends a watch that misses something: all begins anew with a list. */
  #anew = new ChildAbort(new AbortController().signal)
  /** How many lists in a row have left out what is there. */
  #distrusted = 0
  /** How often in a row the cluster said that it does not serve the kind. */
  #absences = 0

  constructor(options: KindWatchOptions) {
    this.#options = options
    this.#keeper = new PositionKeeper({ ...options, key: options.scope.positionKey })
    this.intake = new ObjectIntake({ ...options, onFailure: (error) => this.#fail(error) })
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
    const { cluster, log, fence } = this.#options
    const resume = await this.#keeper.claim(cluster.identity)
    const isKept = resume.resourceVersion === undefined || (await this.#isStateKept(signal))
    log.epoch = resume.epoch
    const isRepeatable = resume.idsRemembered && !resume.isNewOwner && isKept
    log.idSuffix = isRepeatable ? '' : `/${fence}-${resume.epoch}`
    this.intake.republish = resume.isNewOwner
    this.#lastVersion = resume.resourceVersion ?? ''
    this.intake.recheck = resume.recheck
    const ended = new ChildAbort(signal)
    const timers = [
      setInterval(() => void this.#save().catch((error: unknown) => this.#fail(error)), SAVE_EVERY_MS),
      setInterval(() => {
        if (!this.#synced || this.intake.recheck.length === 0) return
        const again = this.inTurn(() => this.intake.confirmAgain(this.#lastVersion, signal))
        again.catch((error: unknown) => this.#fail(error))
      }, RECHECK_EVERY_MS),
    ]
    try {
      this.#verifyOften(ended.signal).catch((error: unknown) => {
        if (!ended.signal.aborted) this.#fail(error)
      })
      const following = this.#followOn(isKept ? resume.resourceVersion : undefined, ended.signal)
      await Promise.race([following, this.#failure.promise])
    } catch (error) {
      if (!signal.aborted) throw error
    } finally {
      for (const timer of timers) clearInterval(timer)
      ended.abort()
    }
    if (this.#options.held()) await this.#drain()
  }

  /** Where others surround the lists, they look after the markers as well. */
  async #isStateKept(signal: AbortSignal): Promise<boolean> {
    const { scope, hooks, logger, cluster } = this.#options
    if (hooks !== undefined || (await isStateKept({ ...this.#options, signal }))) return true
    const fields = { cluster: cluster.name, resource: resourceToken(scope.resource) }
    logger.error(fields, 'STATE has lost what it knew of a kind; it is listed afresh')
    return false
  }

  /** Follows the kind; from the beginning where the cluster turns out to be in an earlier state, or not to list all. */
  async #followOn(checkpoint: string | undefined, signal: AbortSignal): Promise<void> {
    let from = checkpoint
    while (!signal.aborted) {
      this.#anew = new ChildAbort(signal)
      await this.#follow(from, signal)
      if (signal.aborted || !this.#anew.signal.aborted) return
      // What is there again was published under the same id before.
      this.#options.log.idSuffix = `/${this.#options.fence}-${this.#options.log.epoch}-again`
      from = undefined
    }
  }

  /**
   * Looks whether the cluster's store was put back to an earlier state while nothing was watched: a watch from a version
   * that is yet to come is accepted, and stays silent until then.
   */
  async #glance(signal: AbortSignal): Promise<void> {
    const { cluster, scope, clock, random, logger } = this.#options
    const { labelSelector, namespace } = scope
    await clock.sleep(random() * GLANCE_MS, signal)
    const seen = this.#lastVersion
    const page = await cluster.client.listPage(scope.resource, { labelSelector, namespace, limit: 1, signal })
    if (isAtLeast(page.resourceVersion, seen)) return
    const fields = { cluster: cluster.name, resource: resourceToken(scope.resource), seen, found: page.resourceVersion }
    logger.error(fields, 'a cluster is in an earlier state than before; it is listed afresh')
    this.#anew.abort(new Error('the cluster is in an earlier state'))
  }

  /** Looks for what the watch has lost: now and then, each kind at a time of its own, and when somebody asks. */
  async #verifyOften(signal: AbortSignal): Promise<void> {
    const { clock, random, verifyEveryMs, scope, verifications } = this.#options
    // What is said about objects is not remembered.
    if (scope.trustsLists === true) return
    const [owner] = scope.side === 'virtual' ? scope.owners() : []
    const tenant = owner?.tenant ?? ''
    const partition = tenant === '' ? HOST_PLACE : Number(scope.partitionOf(tenant))
    const takeOff = verifications?.add({ partition, tenant, verify: () => this.#compare(signal) })
    try {
      await clock.sleep(random() * verifyEveryMs, signal)
      for (;;) {
        await this.#compare(signal)
        await clock.sleep(verifyEveryMs, signal)
      }
    } finally {
      takeOff?.()
    }
  }

  /** Compares a list with what was published. @returns what was missing, as {@link verifyKind} does */
  async #compare(signal: AbortSignal): Promise<{ missed: number; gone: number } | undefined> {
    const { metrics, logger, cluster, scope } = this.#options
    if (!this.#synced) return undefined
    const resource = resourceToken(scope.resource)
    const options = { ...this.#options, intake: this.intake, watched: () => this.#lastVersion }
    const found = await verifyKind(
      { ...options, inTurn: (step) => this.inTurn(step), settled: (ended) => this.settled(ended) },
      signal,
    )
    if (found !== undefined) metrics.verified(scope.side, resource, found)
    if (found !== undefined && found.missed + found.gone > 0)
      logger.error(
        { cluster: cluster.name, resource, ...found },
        'a watch has lost events; what it missed is published',
      )
    return found
  }

  /** Runs a step between two events. */
  inTurn<T>(step: () => Promise<T>): Promise<T> {
    const turn = this.#turn.then(step)
    this.#turn = turn.catch(() => undefined)
    return turn
  }

  /** Everything handed out so far is in the log. */
  async settled(signal: AbortSignal): Promise<void> {
    await untilAborted(this.intake.idle(), signal)
    await untilAborted(this.#options.log.tracker.idle(), signal)
    signal.throwIfAborted()
  }

  /** Follows the kind until the signal aborts, or all is to begin anew: then what was taken in is brought to its end. */
  async #follow(checkpoint: string | undefined, signal: AbortSignal): Promise<void> {
    const until = this.#anew.signal
    const { cluster, scope, log, lanes, clock, random, pacer } = this.#options
    const events = reflect({
      // The client behind may be replaced while the watch goes on.
      client: {
        source: cluster.client.source,
        listPage: (resource, list) => cluster.client.listPage(resource, list),
        watch: (resource, watch) => cluster.client.watch(resource, watch),
      },
      resource: scope.resource,
      labelSelector: scope.labelSelector,
      namespace: scope.namespace,
      keepManagedFields: needsManagedFields(scope),
      checkpoint,
      known: () => log.known?.values() ?? [],
      clock: cluster.definitions.clock(clock, resourceToken(scope.resource)),
      random,
      signal: until,
    })
    for await (const event of events) {
      if (until.aborted) return
      await this.inTurn(() => this.#handle(event, signal))
      await this.intake.room()
      await lanes.room(signal)
      const pause = pacer?.pause()
      if (pause !== undefined) await pause
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
        if (resourceToken(this.#options.scope.resource) === DEFINITIONS)
          this.#options.cluster.definitions.announce(event.object.metadata.name)
        if (!event.initial) this.#lastVersion = event.object.metadata.resourceVersion
        await this.#recall(event.object, signal)
        return this.intake.take(event, signal)
    }
  }

  /** Whose an object was that nobody can be told for: a watch that was resumed has not needed to know so far. */
  async #recall(object: KubeObject, signal: AbortSignal): Promise<void> {
    const { scope, log } = this.#options
    if (log.known !== undefined || scope.labelSelector === undefined || virtualRefOf(object) !== undefined) return
    await this.settled(signal)
    await log.loadKnown(signal)
  }

  async #onState(event: StateEvent, signal: AbortSignal): Promise<void> {
    const { log, report, metrics, scope, cluster } = this.#options
    const resource = resourceToken(scope.resource)
    switch (event.state) {
      case 'backing-off': {
        const { state, message } = backOffState(event.message)
        metrics.error(scope.side, resource)
        this.#isResumed = true
        report(state, message)
        this.#absences = state === 'absent' ? this.#absences + 1 : 0
        cluster.definitions.note(resource, state === 'absent' && scope.resource.group !== '')
        this.#closeAbsent()
        return
      }
      case 'listing':
        // One more look for a kind that the cluster does not serve is no news.
        if (this.#absences === 0) report('listing', '')
        await this.#verify(signal)
        await this.settled(signal)
        await log.loadKnown(signal)
        log.epoch++
        this.#isResumed = false
        this.#options.hooks?.begun()
        return
      case 'watching':
        await this.#verify(signal)
        this.#synced = true
        this.#absences = 0
        cluster.definitions.note(resource, false)
        report('synced', '')
        // What is wrong with the API the watch tells.
        if (this.#isResumed) this.#glance(signal).catch(() => undefined)
        this.#isResumed = false
        return
    }
  }

  /**
   * A kind that a tenant's cluster does not serve has no objects, as far as none were ever seen. One answer alone may be
   * that of a server that has just begun.
   */
  #closeAbsent(): void {
    const { log, scope, cluster, hooks } = this.#options
    if (hooks !== undefined || scope.side === 'host' || this.#absences !== 2 || log.known?.size !== 0) return
    for (const { tenant, owner } of scope.owners()) {
      log.publishMarker({ tenant, owner, cluster: cluster.identity, resourceVersion: '0', count: 0 })
    }
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
    let isComplete = true
    if (scope.trustsLists === true) {
      for (const known of missing) log.publishGone(known, listed.resourceVersion)
    } else if (missing.length > 0) {
      const before = log.known?.size ?? 0
      const isMass = (listed.count === 0 && before >= 10) || (before >= 20 && missing.length * 2 > before)
      const fields = { cluster: cluster.name, resource, known: before, missing: missing.length }
      if (isMass) logger.warn(fields, 'a list misses most of what was known; each object is read by name')
      const found = await this.intake.confirm(missing, listed.resourceVersion, signal)
      if (found.present > 0 || found.unclear > 0)
        logger.warn({ ...fields, ...found }, 'a list left out objects that are there')
      isComplete = found.selected + found.unclear === 0
    }
    const isDoubtful = listed.count === 0 && log.known?.size === 0 && scope.trustsLists !== true
    if (!isComplete) this.#distrust(signal)
    else if (isDoubtful) this.#lookAgain(signal)
    else this.#distrusted = 0
    await this.settled(signal)
    if (hooks !== undefined) hooks.closed(listed)
    else {
      for (const { tenant, owner } of scope.owners()) {
        const { resourceVersion, count } = listed
        log.publishMarker({ tenant, owner, cluster: cluster.identity, resourceVersion, count })
      }
    }
    this.intake.republish = false
    log.tracker.begin(listed.resourceVersion).settle()
    await this.settled(signal)
  }

  /**
   * A list that left out what is there may have left out as well what nobody knows of yet, and the watch from its version
   * never tells: another list has to follow. Where lists go on like that, the rest is left to the verification.
   */
  #distrust(signal: AbortSignal): void {
    const { clock, random } = this.#options
    if (this.#distrusted++ >= MAX_DISTRUSTED) return
    const anew = this.#anew
    const begin = (): void => anew.abort(new Error('a list was not complete'))
    // Rejects only when the watch has ended.
    clock.sleep(backoffDelay(RETRY, this.#distrusted, random), signal).then(begin, () => undefined)
  }

  /**
   * Nothing speaks against an empty list where nothing is known, as after the log has lost its store; if it is wrong, the
   * watch from its version never tells. The first look that finds something begins all anew.
   */
  #lookAgain(signal: AbortSignal): void {
    const { cluster, scope, logger, log } = this.#options
    const until = this.#anew.signal
    const look = async (): Promise<void> => {
      if (await isStillEmpty(this.#options, until)) return
      // Made since then, and told by the watch; whatever else there is a comparison finds.
      if (log.known?.size !== 0) return void (await this.#compare(until))
      const fields = { cluster: cluster.name, resource: resourceToken(scope.resource) }
      logger.warn(fields, 'a list was empty and another is not; the kind is listed afresh')
      this.#distrust(signal)
    }
    look().catch((error: unknown) => {
      if (!until.aborted) this.#fail(error)
    })
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

  #save(): Promise<void> {
    const { log, cluster } = this.#options
    return this.#keeper.save({
      resourceVersion: log.tracker.safe,
      epoch: log.epoch,
      cluster: cluster.identity,
      recheck: this.intake.recheck,
    })
  }

  async #drain(): Promise<void> {
    const { log, bus } = this.#options
    // Without a log to take them, what is on its way is published again by the next to watch.
    await untilAborted(Promise.race([log.tracker.idle(), bus.closed]), AbortSignal.timeout(DRAIN_MS))
    await this.#save()
  }

  #fail(error: unknown): void {
    this.#failure.reject(error)
  }
}
