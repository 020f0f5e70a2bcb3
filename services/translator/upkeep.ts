import { errorMessage } from '#libs/kernel'
import type { Projection } from '#libs/projection'
import type { Logger } from '#libs/telemetry'
import type { FollowedStream } from './followed-stream.ts'

/** How often it is tidied up: tombstones, and positions in streams that are quiet. */
const TIDY_EVERY_MS = 30_000
const TIDY_SLICE = 50
const TIDY_PAUSE_MS = 100
/** How long a deletion is remembered at least. Whatever is later than this is confirmed by a live read. */
const TOMBSTONE_LIFE_MS = 6 * 3_600_000

export type UpkeepOptions = {
  partition: number
  projection: Projection
  logger: Logger
  streams: () => readonly FollowedStream[]
  /** Has a step done between others. */
  inTurn: (step: () => void) => Promise<void>
  /** Told when there is something to commit. */
  onChange: () => void
}

/** Keeps a projection from growing, and its position from becoming too old where nothing comes. */
export class Upkeep {
  readonly #options: UpkeepOptions
  /** When it is due next, ms since the epoch. */
  dueAt = 0

  constructor(options: UpkeepOptions) {
    this.#options = options
  }

  /** Does a part of it. */
  run(now: number): void {
    const { projection, logger, partition, streams, onChange } = this.#options
    const isMore = projection.expireTombstones({ before: now - TOMBSTONE_LIFE_MS, now, limit: TIDY_SLICE })
    this.dueAt = isMore ? now + TIDY_PAUSE_MS : now + TIDY_EVERY_MS
    if (!isMore) projection.objects.forgetIdleCache()
    onChange()
    for (const stream of streams()) {
      this.#advance(stream).catch((error: unknown) =>
        logger.warn({ partition, reason: errorMessage(error) }, 'position not moved on'),
      )
    }
  }

  /** Follows a stream that goes on without messages for this partition, so that its position does not grow too old. */
  async #advance(stream: FollowedStream): Promise<void> {
    const before = stream.position
    const end = await stream.quietUntil()
    if (end === undefined) return
    await this.#options.inTurn(() => {
      if (!stream.isTaken(before)) return
      this.#options.projection.setPosition(stream.stream, end)
      stream.moveTo(end)
      this.#options.onChange()
    })
  }
}
