import { ChangeLane, type LaneOptions } from './change-lane.ts'
import { untilAborted } from './until-aborted.ts'

export type LaneSetOptions = Omit<LaneOptions, 'onWaiting'> & {
  /** How many changes may wait over all lanes before `room` holds its caller. */
  limit: number
}

/** The lanes of those that one or more watches speak for. */
export class LaneSet {
  readonly #options: LaneSetOptions
  readonly #lanes = new Map<string, ChangeLane>()
  #waiting = 0
  #waiters: (() => void)[] = []

  constructor(options: LaneSetOptions) {
    this.#options = options
  }

  lane(tenant: string): ChangeLane {
    const existing = this.#lanes.get(tenant)
    if (existing !== undefined) return existing
    const lane = new ChangeLane(tenant, { ...this.#options, onWaiting: (difference) => this.#onWaiting(difference) })
    this.#lanes.set(tenant, lane)
    return lane
  }

  /** Resolves when few enough changes wait to read more, or when the signal aborts. */
  async room(signal: AbortSignal): Promise<void> {
    while (this.#waiting > this.#options.limit && !signal.aborted) {
      const moved = new Promise<void>((resolve) => this.#waiters.push(resolve))
      await untilAborted(moved, signal)
    }
  }

  #onWaiting(difference: number): void {
    this.#waiting += difference
    if (difference < 0) for (const resume of this.#waiters.splice(0)) resume()
  }
}
