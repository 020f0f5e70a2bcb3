import type { StreamName } from '#libs/events'
import type { Clock } from '#libs/kernel'

export type PositionReportOptions = {
  store: (stream: StreamName, seq: number) => Promise<void>
  clock: Clock
  /** Told when a position cannot be stored: then the partition has another owner. */
  onFailure: (error: unknown) => void
}

const EVERY_MS = 1_000

/**
 * Tells others how far the partition is. Nothing starts from what is told, so it is told once a second and nobody waits
 * for it.
 */
export class PositionReport {
  readonly #options: PositionReportOptions
  readonly #told = new Map<StreamName, number>()
  #positions: ReadonlyMap<StreamName, number> = new Map()
  #telling: Promise<void> | undefined
  #nextAt = 0

  constructor(options: PositionReportOptions) {
    this.#options = options
  }

  /** Takes committed positions in, and tells of them unless that was done just now. */
  moved(positions: ReadonlyMap<StreamName, number>): void {
    const { clock, onFailure } = this.#options
    this.#positions = positions
    if (this.#telling !== undefined || clock.now() < this.#nextAt) return
    this.#nextAt = clock.now() + EVERY_MS
    this.#telling = this.#tell().finally(() => {
      this.#telling = undefined
    })
    this.#telling.catch(onFailure)
  }

  /** Tells of the last positions. @throws what storing throws */
  async flush(): Promise<void> {
    await this.#telling
    await this.#tell()
  }

  async #tell(): Promise<void> {
    const changed = [...this.#positions].filter(([stream, seq]) => this.#told.get(stream) !== seq)
    await Promise.all(
      changed.map(async ([stream, seq]) => {
        await this.#options.store(stream, seq)
        this.#told.set(stream, seq)
      }),
    )
  }
}
