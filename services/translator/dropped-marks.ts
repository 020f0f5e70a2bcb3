import type { Kv } from '#libs/bus'
import { jsonEqual } from '#libs/kernel'
import type { DecisionKey } from '#libs/projection'
import { type DroppedWrites, droppedFilter, droppedKey } from '#libs/runtime'
import type { Logger } from '#libs/telemetry'

/** What an operator has dropped of a partition: read once by its owner, who alone changes it. */
export class DroppedMarks {
  readonly #kv: Pick<Kv<DroppedWrites>, 'put' | 'delete'>
  readonly #logger: Logger
  readonly #marks = new Map<string, DroppedWrites>()
  #writing: Promise<unknown> = Promise.resolve()

  private constructor(kv: Pick<Kv<DroppedWrites>, 'put' | 'delete'>, logger: Logger) {
    this.#kv = kv
    this.#logger = logger
  }

  /** @throws BusError when what is stored cannot be read: nothing must be tried then that may be dropped */
  static async read(kv: Pick<Kv<DroppedWrites>, 'list' | 'put' | 'delete'>, logger: Logger): Promise<DroppedMarks> {
    const marks = new DroppedMarks(kv, logger)
    for (const { key, value } of await kv.list(droppedFilter())) marks.#marks.set(key, value)
    return marks
  }

  get({ tenant, ref }: DecisionKey): DroppedWrites | undefined {
    // Asked for each decision, and as a rule there is nothing.
    if (this.#marks.size === 0) return undefined
    return this.#marks.get(droppedKey(tenant, ref))
  }

  /** Marks of a tenant. */
  of(tenant: string): DroppedWrites[] {
    const prefix = droppedFilter(tenant).slice(0, -1)
    return [...this.#marks].flatMap(([key, mark]) => (key.startsWith(prefix) ? [mark] : []))
  }

  /** Resolves when it is stored. Rejects when it cannot be; it holds in memory all the same. */
  async set(tenant: string, mark: DroppedWrites): Promise<void> {
    const key = droppedKey(tenant, mark.object)
    const before = this.#marks.get(key)
    // Ordered again: it was dropped when it was dropped first.
    const isSame = before !== undefined && jsonEqual(before.writes, mark.writes)
    this.#marks.set(key, isSame ? before : mark)
    await this.#write(() => this.#kv.put(key, isSame ? before : mark))
  }

  /** Takes a mark off. One that stays stored by mistake is taken off by the next owner. */
  clear({ tenant, ref }: DecisionKey): void {
    const key = droppedKey(tenant, ref)
    if (!this.#marks.delete(key)) return
    this.#write(() => this.#kv.delete(key)).catch((error: unknown) =>
      this.#logger.warn({ tenant, ref, err: error }, 'mark of what was dropped could not be removed'),
    )
  }

  /** Resolves when all is stored that was told. */
  async idle(): Promise<void> {
    await this.#writing
  }

  #write(write: () => Promise<unknown>): Promise<unknown> {
    const written = this.#writing.then(write)
    this.#writing = written.catch(() => undefined)
    return written
  }
}
