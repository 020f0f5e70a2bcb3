import type { Kv } from '#libs/bus'
import { jsonEqual } from '#libs/kernel'
import type { Projection } from '#libs/projection'
import { type WaitingReport, waitingKey } from '#libs/runtime'
import type { Logger } from '#libs/telemetry'

/** Objects named per tenant: the counts tell of the others. */
const NAMED = 200

/** Tells in a bucket what of each tenant waits, for those who ask. Nothing starts from it, and nobody waits for it. */
export class WaitingBoard {
  readonly #kv: Pick<Kv<WaitingReport>, 'get' | 'put' | 'delete'>
  readonly #logger: Logger
  readonly #told = new Map<string, WaitingReport>()
  #telling = Promise.resolve()

  constructor(options: { kv: Pick<Kv<WaitingReport>, 'get' | 'put' | 'delete'>; logger: Logger }) {
    this.#kv = options.kv
    this.#logger = options.logger
  }

  /** Tells what waits of these tenants by now, where that has changed. */
  tell(pending: Pick<Projection['pending'], 'waitingByReason' | 'waitingLongest'>, tenants: readonly string[]): void {
    const counts = new Map<string, Record<string, number>>()
    for (const { tenant, reason, count } of pending.waitingByReason()) {
      counts.set(tenant, { ...counts.get(tenant), [reason]: count })
    }
    for (const tenant of tenants) {
      const of = counts.get(tenant)
      const objects = of === undefined ? [] : pending.waitingLongest(tenant, NAMED)
      this.#put(tenant, { counts: of ?? {}, objects })
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
    if (jsonEqual(before, report)) return
    this.#told.set(tenant, report)
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
