import type { Kv } from './kv.ts'

/** What a lease's key holds while someone has it. */
export type LeaseValue = {
  /** Who holds it. */
  owner: string
  /** Tells one holding from another by the same owner. */
  holding: string
  /** What the owner says about itself. */
  info?: unknown
}

/** Right to work on something alone. */
export type Lease = {
  readonly key: string
  /** Grows with every change of owner; what the owner writes carries it, so that what an older owner writes is refused. */
  readonly fence: number
  /** Aborts the moment the lease is lost or released. Work under it must stop at once. */
  readonly signal: AbortSignal
  /**
   * Whether the lease is still held, by this machine's clocks: a process that was stopped for longer than the lease
   * lasts learns it here, before any timer or message tells it. Ask before each act that nobody else checks.
   */
  isHeld(): boolean
  /** Gives the lease up, so that another need not wait for its end. */
  release(): Promise<void>
}

/** A point in time on both clocks: the steady one may stand still while the machine sleeps, the other may be set. */
type Instant = { steady: number; wall: number }

/** Milliseconds since an instant, by whichever clock says more. */
function since(instant: Instant): number {
  return Math.max(performance.now() - instant.steady, Date.now() - instant.wall)
}

export function instantNow(): Instant {
  return { steady: performance.now(), wall: Date.now() }
}

export type HeldLeaseOptions = {
  kv: Kv<LeaseValue>
  /** What it is a lease for. */
  key: string
  /** Its key in the bucket. */
  storedKey: string
  value: LeaseValue
  ttlMs: number
  /** Revision of the write that acquired it. */
  revision: number
  /** When that write was begun: the server counts from some time after it. */
  acquiredAt: Instant
}

/** A lease in hand: renews itself at every third of its time until it is released or lost. */
export class HeldLease implements Lease {
  readonly key: string
  readonly fence: number
  readonly #options: HeldLeaseOptions
  readonly #controller = new AbortController()
  /** Ends some time before the server's count does, to have stopped before another begins. */
  readonly #validMs: number
  readonly #renewal: NodeJS.Timeout
  #deadline: NodeJS.Timeout
  #revision: number
  #renewedAt: Instant
  #renewing = false

  constructor(options: HeldLeaseOptions) {
    this.key = options.key
    this.fence = options.revision
    this.#options = options
    this.#revision = options.revision
    this.#renewedAt = options.acquiredAt
    this.#validMs = options.ttlMs * 0.9
    this.#renewal = setInterval(() => void this.#renew(), options.ttlMs / 3)
    this.#deadline = this.#armDeadline()
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  isHeld(): boolean {
    if (this.signal.aborted) return false
    if (since(this.#renewedAt) < this.#validMs) return true
    this.#end(new Error(`lease ${this.key} was not renewed in time`))
    return false
  }

  async release(): Promise<void> {
    if (this.signal.aborted) return
    this.#end(new Error(`lease ${this.key} was released`))
    const { kv, storedKey, value } = this.#options
    // A renewal may be on its way: whatever revision it has, only what is ours is removed.
    const entry = await kv.get(storedKey)
    if (entry?.value.holding === value.holding) await kv.delete(storedKey, entry.revision)
  }

  async #renew(): Promise<void> {
    if (!this.isHeld() || this.#renewing) return
    this.#renewing = true
    const begun = instantNow()
    try {
      const { kv, storedKey, value } = this.#options
      const revision = await kv.update(storedKey, value, this.#revision)
      if (revision === undefined) this.#end(new Error(`lease ${this.key} was taken over`))
      else if (this.isHeld()) {
        this.#revision = revision
        this.#renewedAt = begun
        clearTimeout(this.#deadline)
        this.#deadline = this.#armDeadline()
      }
    } catch {
      // No answer: the next turn tries again, unless the deadline comes first.
    } finally {
      this.#renewing = false
    }
  }

  #armDeadline(): NodeJS.Timeout {
    // Timers may fire a little early by the clock that counts here: then there is a rest to wait for.
    const ring = (): void => {
      if (this.isHeld()) this.#deadline = this.#armDeadline()
    }
    return setTimeout(ring, Math.ceil(this.#validMs - since(this.#renewedAt)) + 1)
  }

  #end(reason: Error): void {
    if (this.signal.aborted) return
    clearInterval(this.#renewal)
    clearTimeout(this.#deadline)
    this.#controller.abort(reason)
  }
}
