import type { Clock } from '#libs/kernel'
import { AdaptiveLimit, type CallSample } from './adaptive-limit.ts'
import { Availability } from './availability.ts'
import { FairScheduler, type Urgency } from './fair-scheduler.ts'

/** One piece of work for an API server. */
export type Job = {
  tenant: string
  urgency: Urgency
  /** Makes the call. Resolves with how it went, or undefined when no call was made; never rejects. */
  run(): Promise<CallSample | undefined>
}

export type ApiGateOptions = {
  clock: Clock
  /** Ends waiting; nothing is started any more then. */
  signal: AbortSignal
  /** Whether several tenants share the server: then one tenant may take up half of it at most. */
  shared: boolean
  weight?: (tenant: string) => number
  /** Called when nothing waits and nothing is under way. */
  onIdle?: () => void
}

/**
 * All that goes to one API server passes here: in fair order, and no more at once than the server takes. What waits
 * here keeps nothing that goes to other servers waiting.
 */
export class ApiGate {
  readonly availability = new Availability()
  readonly #limit = new AdaptiveLimit()
  readonly #scheduler: FairScheduler<Job>
  readonly #options: ApiGateOptions
  #pausing = false

  constructor(options: ApiGateOptions) {
    this.#options = options
    this.#scheduler = new FairScheduler<Job>({
      ...(options.weight === undefined ? {} : { weight: options.weight }),
      ...(options.shared ? { maxPerTenant: () => Math.max(2, Math.ceil(this.#limit.limit / 2)) } : {}),
    })
  }

  get queued(): Record<Urgency, number> {
    return { urgent: this.#scheduler.size('urgent'), bulk: this.#scheduler.size('bulk') }
  }

  get inFlight(): number {
    return this.#limit.inFlight
  }

  get limit(): number {
    return this.#limit.limit
  }

  /** Whether it has learned nothing that would be missed: the server is up and has not asked to wait. */
  get isForgettable(): boolean {
    return !this.availability.isDown && this.#limit.pauseMs(this.#options.clock.now()) === 0
  }

  submit(job: Job): void {
    this.#scheduler.add(job, job)
    this.#pump()
  }

  /** Takes a job back that has not begun. */
  withdraw(job: Job): void {
    this.#scheduler.remove(job, job)
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
      void this.#run(job)
    }
    if (this.#limit.inFlight === 0) this.#options.onIdle?.()
  }

  async #run(job: Job): Promise<void> {
    const sample = await job.run()
    if (sample === undefined) this.#limit.cancel()
    else this.#limit.release(sample, this.#options.clock.now(), { othersWait: this.#scheduler.size() > 0 })
    this.#scheduler.done(job.tenant)
    this.#pump()
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
