import type { StreamName } from '#libs/events'
import type { Clock } from '#libs/kernel'

export type PositionReportOptions = {
  store: (stream: StreamName, seq: number) => Promise<void>
  clock: Clock
  /** Told when a position cannot be stored: then the partition has another owner. */
  onFailure: (error: unknown) => void
}

/** Watchers bound what is under way by what is told here: a tenant's window is passed on at most once in this time. */
const EVERY_MS = 100

/**
 * Tells others how far the partition is. Nothing starts from what is told, so it is told now and then and nobody waits
 * for it; the last that there is to tell is always told.
 */
export class PositionReport {
  readonly #options: PositionReportOptions
  readonly #told = new Map<StreamName, number>()
  readonly #over = new AbortController()
  #positions: ReadonlyMap<StreamName, number> = new Map()
  #telling: Promise<void> | undefined
  #nextAt = 0

  constructor(options: PositionReportOptions) {
    this.#options = options
  }

  /** Takes committed positions in, and tells of them soon. */
  moved(positions: ReadonlyMap<StreamName, number>): void {
    this.#positions = positions
    if (this.#over.signal.aborted || this.#telling !== undefined || this.#news.length === 0) return
    this.#telling = this.#tellOn()
    this.#telling.catch(this.#options.onFailure)
  }

  /** Tells of the last positions, and of none after them. @throws what storing throws */
  async flush(): Promise<void> {
    this.#over.abort()
    await this.#telling
    await this.#tell()
  }

  get #news(): [StreamName, number][] {
    return [...this.#positions].filter(([stream, seq]) => this.#told.get(stream) !== seq)
  }

  async #tellOn(): Promise<void> {
    const { clock } = this.#options
    try {
      while (this.#news.length > 0) {
        const wait = this.#nextAt - clock.now()
        if (wait > 0) await clock.sleep(wait, this.#over.signal).catch(() => undefined)
        if (this.#over.signal.aborted) return
        this.#nextAt = clock.now() + EVERY_MS
        await this.#tell()
      }
    } finally {
      this.#telling = undefined
    }
  }

  async #tell(): Promise<void> {
    await Promise.all(
      this.#news.map(async ([stream, seq]) => {
        await this.#options.store(stream, seq)
        this.#told.set(stream, seq)
      }),
    )
  }
}
