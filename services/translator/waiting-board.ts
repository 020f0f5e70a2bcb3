import type { Kv } from '#libs/bus'
import { type Clock, jsonEqual } from '#libs/kernel'
import type { Projection } from '#libs/projection'
import { type WaitingReport, waitingKey } from '#libs/runtime'
import type { Logger } from '#libs/telemetry'

/** Objects named per tenant: the counts tell of the others. */
const NAMED = 200
/** Which objects they are is looked at again after this long, although the counts are the same. */
const NAMES_EVERY_MS = 15_000

/** Tells in a bucket what of each tenant waits, for those who ask. Nothing starts from it, and nobody waits for it. */
export class WaitingBoard {
  readonly #kv: Pick<Kv<WaitingReport>, 'get' | 'put' | 'delete'>
  readonly #logger: Logger
  readonly #clock: Pick<Clock, 'now'>
  readonly #told = new Map<string, WaitingReport & { at: number }>()
  #telling = Promise.resolve()

  constructor(options: {
    kv: Pick<Kv<WaitingReport>, 'get' | 'put' | 'delete'>
    logger: Logger
    clock: Pick<Clock, 'now'>
  }) {
    this.#kv = options.kv
    this.#clock = options.clock
    this.#logger = options.logger
  }

  /** Tells what waits of these tenants by now, where that has changed. */
  tell(
    pending: Pick<Projection['pending'], 'waitingByReason' | 'waitingLongest' | 'newestWaiting'>,
    tenants: readonly string[],
  ): void {
    const counts = new Map<string, Record<string, number>>()
    for (const { tenant, reason, count } of pending.waitingByReason()) {
      counts.set(tenant, { ...counts.get(tenant), [reason]: count })
    }
    for (const tenant of tenants) {
      const of = counts.get(tenant) ?? {}
      const told = this.#told.get(tenant)
      const isFresh = told !== undefined && this.#clock.now() - told.at < NAMES_EVERY_MS
      if (isFresh && jsonEqual(told.counts, of)) continue
      if (counts.has(tenant)) {
        const objects = pending.waitingLongest(tenant, NAMED)
        this.#put(tenant, { counts: of, objects, ...newest(pending.newestWaiting(tenant)) })
      } else this.#put(tenant, { counts: of, objects: [] })
    }
  }

  /** Takes a tenant off: it is removed. */
  forget(tenant: string): void {
    this.#told.delete(tenant)
    this.#write(tenant, () => this.#kv.delete(waitingKey(tenant)))
  }

  /** Resolves when all is stored that was told. */
  async idle(): Promise<void> {
    await this.#telling
  }

  #put(tenant: string, report: WaitingReport): void {
    const before = this.#told.get(tenant)
    this.#told.set(tenant, { ...report, at: this.#clock.now() })
    if (before !== undefined && jsonEqual({ ...report, at: before.at }, before)) return
    const isEmpty = report.objects.length === 0
    this.#write(tenant, async () => {
      if (!isEmpty) return this.#kv.put(waitingKey(tenant), report)
      // What an earlier owner of the partition has told may be there.
      const isThere = before !== undefined || (await this.#kv.get(waitingKey(tenant))) !== undefined
      return isThere ? this.#kv.delete(waitingKey(tenant)) : false
    })
  }

  #write(tenant: string, write: () => Promise<unknown>): void {
    this.#telling = this.#telling.then(write).then(
      () => undefined,
      (error: unknown) => {
        // Told again with the next change, or by the next to look.
        this.#told.delete(tenant)
        this.#logger.warn({ tenant, err: error }, 'what waits could not be told')
      },
    )
  }
}

function newest(found: ReturnType<Projection['pending']['newestWaiting']>): Pick<WaitingReport, 'newest'> {
  if (found === undefined) return {}
  const { message, ...rest } = found
  return { newest: found.resource === 'secrets' ? rest : { ...rest, message } }
}
