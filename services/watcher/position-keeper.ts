import type { Positions } from '#libs/bus'
import type { Clock } from '#libs/kernel'
import type { Logger } from '#libs/telemetry'
import type { Known } from './known-objects.ts'
import { type WatchPosition, resumeFrom } from './position.ts'

export type PositionKeeperOptions = {
  positions: Positions<WatchPosition>
  key: string
  fence: number
  /** Tells the tenant from an earlier one of its name. */
  owner: string
  /** When the stream of changes was created. */
  logCreated: string
  /** Whether this process may still write. */
  held: () => boolean
  clock: Clock
  logger: Logger
}

/** What there is to store, as of now. */
export type Progress = { resourceVersion: string | undefined; epoch: number; cluster: string; recheck: Iterable<Known> }

/** Objects to be read again that a position holds. A list finds the others. */
const RECHECK_STORED = 500

/** Keeps the position of one watch under the fence of its owner. */
export class PositionKeeper {
  readonly #options: PositionKeeperOptions
  #stored = ''
  #saving = false

  constructor(options: PositionKeeperOptions) {
    this.#options = options
  }

  /**
   * Takes the position over, so that an earlier owner can store none from now on.
   * @throws BusError `Fenced`
   */
  async claim(cluster: string): Promise<ReturnType<typeof resumeFrom>> {
    const { positions, key, fence, owner, logCreated, clock } = this.#options
    const claimed = await positions.claim(key, fence)
    const resume = resumeFrom(claimed?.value, { cluster, owner, log: logCreated, time: clock.now() })
    this.#stored = resume.resourceVersion ?? ''
    return resume
  }

  /**
   * Stores the position, unless it is stored already.
   * @throws BusError `Fenced`
   */
  async save(progress: Progress): Promise<void> {
    const { positions, key, fence, owner, logCreated, held, clock, logger } = this.#options
    const { resourceVersion, epoch, cluster } = progress
    if (this.#saving || resourceVersion === undefined || resourceVersion === this.#stored || !held()) return
    const recheck = [...progress.recheck].slice(0, RECHECK_STORED)
    const value = { resourceVersion, epoch, cluster, owner, log: logCreated, storedAt: clock.now(), recheck }
    this.#saving = true
    try {
      await positions.store(key, { fence, value })
      this.#stored = resourceVersion
    } catch (error) {
      if ((error as { code?: string }).code !== 'KvFailed') throw error
      logger.warn({ position: key, err: error }, 'position could not be stored')
    } finally {
      this.#saving = false
    }
  }
}
