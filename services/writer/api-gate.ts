import type { Clock } from '#libs/kernel'
import type { Side } from '#libs/kube-model'
import { AdaptiveLimit, type CallSample } from './adaptive-limit.ts'
import { FairScheduler, type Urgency } from './fair-scheduler.ts'

/** One piece of work for an API server. */
export type Job = {
  tenant: string
  side: Side
  urgency: Urgency
  /** Makes the call. Resolves with how it went, or undefined when no call was made; never rejects. */
  run(): Promise<CallSample | undefined>
}

export type ApiGateOptions = {
  clock: Clock
  /** Ends waiting; nothing is started any more then. */
  signal: AbortSignal
  /** Whether many tenants share the server, as it is known from the beginning. */
  shared: boolean
  weight?: (tenant: string) => number
  /** Called when nothing waits and nothing is under way. */
  onIdle?: () => void
}

/** What of one side waits, and what is under way. */
export type GateLoad = Record<Urgency | 'inFlight', number>

/** When a tenant was answered last. */
type Answer = { tenant: string; at: number }

/**
 * All that goes to one API server passes here: in fair order, and no more at once than the server takes. Where several
 * tenants share it, one may take up half of it at most. What waits here keeps nothing that goes to other servers waiting.
 */
export class ApiGate {
  readonly sides = new Set<Side>()
  readonly #limit = new AdaptiveLimit()
  readonly #scheduler: FairScheduler<Job>
  readonly #options: ApiGateOptions
  readonly #load: Record<Side, GateLoad> = {
    host: { urgent: 0, bulk: 0, inFlight: 0 },
    virtual: { urgent: 0, bulk: 0, inFlight: 0 },
  }
  #pausing = false
  #isShared: boolean
  #onlyTenant: string | undefined
  #lastAnswer: Answer | undefined
  /** Of another tenant than the last. */
  #otherAnswer: Answer | undefined

  constructor(options: ApiGateOptions) {
    this.#options = options
    this.#isShared = options.shared
    this.#scheduler = new FairScheduler<Job>({
      ...(options.weight === undefined ? {} : { weight: options.weight }),
      maxPerTenant: () => (this.#isShared ? Math.max(2, Math.ceil(this.#limit.limit / 2)) : Infinity),
    })
  }

  /** What waits and is under way of one side. */
  load(side: Side): Readonly<GateLoad> {
    return this.#load[side]
  }

  get inFlight(): number {
    return this.#limit.inFlight
  }

  get limit(): number {
    return this.#limit.limit
  }

  get isShared(): boolean {
    return this.#isShared
  }

  /** Whether it has learned nothing that would be missed: the server has not asked to wait. */
  get isForgettable(): boolean {
    return this.#limit.pauseMs(this.#options.clock.now()) === 0
  }

  submit(job: Job): void {
    this.#onlyTenant ??= job.tenant
    if (job.tenant !== this.#onlyTenant) this.#isShared = true
    this.sides.add(job.side)
    this.#load[job.side][job.urgency]++
    this.#scheduler.add(job, job)
    this.#pump()
  }

  /** Takes a job back that has not begun. */
  withdraw(job: Job): void {
    if (this.#scheduler.remove(job, job)) this.#load[job.side][job.urgency]--
  }

  #pump(): void {
    for (;;) {
      const now = this.#options.clock.now()
      if (this.#scheduler.size() === 0) break
      const pauseMs = this.#limit.pauseMs(now)
      if (pauseMs > 0) {
        this.#wait(pauseMs)
        return
      }
      if (!this.#limit.hasRoom(now)) return
      const job = this.#scheduler.next()
      if (job === undefined) return
      this.#limit.tryAcquire(now)
      this.#load[job.side][job.urgency]--
      this.#load[job.side].inFlight++
      void this.#run(job)
    }
    if (this.#limit.inFlight === 0) this.#options.onIdle?.()
  }

  async #run(job: Job): Promise<void> {
    const begunAt = this.#options.clock.now()
    const sample = await job.run()
    const now = this.#options.clock.now()
    if (sample?.result === 'answered') this.#onAnswer({ tenant: job.tenant, at: now })
    const isOwnFault = sample?.result === 'failed' && this.#hasAnsweredOthers(job.tenant, begunAt)
    if (sample === undefined || isOwnFault) this.#limit.cancel()
    else this.#limit.release(sample, now, { othersWait: this.#scheduler.size() > 0 })
    this.#load[job.side].inFlight--
    this.#scheduler.done(job.tenant)
    this.#pump()
  }

  #onAnswer(answer: Answer): void {
    if (this.#lastAnswer?.tenant !== answer.tenant) this.#otherAnswer = this.#lastAnswer
    this.#lastAnswer = answer
  }

  /** Then the server is well, and what failed was a cluster behind it. */
  #hasAnsweredOthers(tenant: string, since: number): boolean {
    const answer = this.#lastAnswer?.tenant === tenant ? this.#otherAnswer : this.#lastAnswer
    return answer !== undefined && answer.at >= since
  }

  #wait(ms: number): void {
    if (this.#pausing) return
    this.#pausing = true
    void this.#options.clock.sleep(ms, this.#options.signal).then(
      () => {
        this.#pausing = false
        this.#pump()
      },
      () => undefined,
    )
  }
}
