import type { Positions } from '#libs/bus'
import type { Clock } from '#libs/kernel'
import type { ResumePoint } from './settlement.ts'

/** Stores the resume point of a partition while it moves, no more often than needed. */
export class PositionKeeper {
  readonly #options: PositionKeeperOptions
  #stored: ResumePoint | undefined
  #storing: Promise<void> | undefined

  constructor(options: PositionKeeperOptions) {
    this.#options = options
  }

  /**
   * Takes over the position from whoever had the partition before, so that it can store none any more.
   * @throws BusError `Fenced` when somebody else has taken over meanwhile
   */
  async claim(): Promise<ResumePoint> {
    const { positions, key, fence } = this.#options
    this.#stored = (await positions.claim(key, fence))?.value
    return this.#stored ?? { seq: 0, outcomeSeq: 0 }
  }

  /** Stores until the signal aborts. @throws BusError `Fenced` */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, everyMs } = this.#options
    while (!signal.aborted) {
      await clock.sleep(everyMs, signal).catch(() => undefined)
      if (!signal.aborted) await this.store()
    }
  }

  /** Stores the point as it is now, if it has moved. */
  async store(): Promise<void> {
    await this.#storing
    this.#storing = this.#storeNow().finally(() => {
      this.#storing = undefined
    })
    await this.#storing
  }

  async #storeNow(): Promise<void> {
    const { positions, key, fence } = this.#options
    const value = this.#options.point()
    if (value === undefined) return
    if (value.seq === this.#stored?.seq && value.outcomeSeq === this.#stored.outcomeSeq) return
    await positions.store(key, { fence, value })
    this.#stored = value
  }
}

export type PositionKeeperOptions = {
  positions: Positions<ResumePoint>
  key: string
  fence: number
  clock: Clock
  everyMs: number
  /** Where a restart would go on, right now; undefined while that is not known. */
  point(): ResumePoint | undefined
}
