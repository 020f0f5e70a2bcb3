import type { ObjectRef } from '#libs/kube-model'
import type { Retrying } from '#libs/projection'
import type { DroppedWritesKeeper } from './dropped-writes.ts'
import type { Patrol, PatrolReport } from './patrol.ts'
import { unlessAborted } from './unless-aborted.ts'

export type OperatorsOrdersOptions = {
  dropped: DroppedWritesKeeper
  patrol: Patrol
  /** Tenants of the partition. */
  tenants: () => string[]
  /** Does a step once the partition is taken over, with what follows committed; `undefined` when the work has ended. */
  ordered: <T>(step: () => T | Promise<T>) => Promise<T | undefined>
  /** Resolves when the work has ended. */
  over: Promise<undefined>
  /** Breaks off a step that waits. */
  signal: AbortSignal
}

/** What operators ask of a partition, see `Order`. */
export class OperatorsOrders {
  readonly #options: OperatorsOrdersOptions

  constructor(options: OperatorsOrdersOptions) {
    this.#options = options
  }

  /**
   * Has what a tenant's objects wait for tried now.
   * @returns how many objects, once that is committed; `undefined` when the work has ended before
   */
  retry(order: Retrying): Promise<number | undefined> {
    return this.#options.ordered(() => this.#options.dropped.retry(order))
  }

  /**
   * Has what of an object is parked not tried any more.
   * @returns how many writes, once that is committed; `undefined` when the work has ended before. Rejects when it cannot
   *   be stored
   */
  async drop(order: {
    tenant: string
    object: ObjectRef
    at: number
    by?: string
  }): Promise<{ dropped: number; judged: number } | undefined> {
    const { ordered, dropped, signal } = this.#options
    const { tenant, object: ref } = order
    const settled = await ordered(() =>
      unlessAborted(dropped.drop({ tenant, ref }, order), signal).then(
        (value) => ({ value }),
        (error: unknown) => ({ error }),
      ),
    )
    if (settled !== undefined && 'error' in settled) throw settled.error
    return settled?.value
  }

  /**
   * Decides about every object of a tenant again, or of all.
   * @param tell told after each slice
   * @returns what was seen, once that is committed; `undefined` when the work has ended before
   */
  async patrol(tenant: string | undefined, tell: (report: PatrolReport) => void): Promise<PatrolReport | undefined> {
    const { ordered, patrol, tenants, over } = this.#options
    const begun = await ordered(() => {
      const those = tenants().filter((name) => tenant === undefined || name === tenant)
      return { report: patrol.run(those, tell) }
    })
    if (begun === undefined) return undefined
    const report = await Promise.race([begun.report, over])
    return report === undefined ? undefined : ordered(() => report)
  }
}
