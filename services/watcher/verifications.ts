import type { Clock } from '#libs/kernel'
import { HOST_PLACE, type OrderAnswerOf, type Orders, type PlacedOrder, keepOpenOrders } from '#libs/runtime'
import type { Logger } from '#libs/telemetry'

/** What a list has shown that no watch had told of; undefined when it broke off, or the kind is not in sync. */
type Found = { missed: number; gone: number } | undefined

/** A watch that can compare a list with what it has published. */
type Verifiable = {
  /** `HOST_PLACE` for what is watched on the host. */
  partition: number
  /** Empty for the host. */
  tenant: string
  verify(): Promise<Found>
}

type Report = Pick<OrderAnswerOf<'verify'>, 'lists' | 'missed' | 'gone'>

export type VerificationsOptions = {
  orders: Pick<Orders, 'follow' | 'answer' | 'withdraw'>
  clock: Clock
  logger: Logger
  signal: AbortSignal
}

/** Lists at a time that operators have asked for. */
const AT_ONCE = 4
const TELL_EVERY_MS = 1_000

/** The watches of a process that can be verified, and operators' orders to do so. */
export class Verifications {
  readonly #options: VerificationsOptions
  readonly #watches = new Set<Verifiable>()
  readonly #owned = new Set<number>()
  readonly #open = new Map<string, PlacedOrder>()
  readonly #underWay = new Set<string>()

  constructor(options: VerificationsOptions) {
    this.#options = options
    void keepOpenOrders({ ...options, open: this.#open, begin: (placed) => this.#begin(placed) })
  }

  /** Makes a watch known. @returns what takes it off */
  add(watch: Verifiable): () => void {
    this.#watches.add(watch)
    return () => this.#watches.delete(watch)
  }

  /** Carries orders of a partition out while the work on it goes on. */
  async owning<T>(partition: number, work: () => Promise<T>): Promise<T> {
    this.#owned.add(partition)
    for (const placed of this.#open.values()) if (placed.partition === partition) this.#begin(placed)
    try {
      return await work()
    } finally {
      this.#owned.delete(partition)
    }
  }

  #begin(placed: PlacedOrder): void {
    if (!this.#owned.has(placed.partition) || this.#underWay.has(placed.id)) return
    this.#underWay.add(placed.id)
    void this.#carryOut(placed).finally(() => this.#underWay.delete(placed.id))
  }

  /** Never rejects. */
  async #carryOut(placed: PlacedOrder): Promise<void> {
    const { orders, logger, clock } = this.#options
    const { order, partition } = placed
    const report: Report = { lists: 0, missed: 0, gone: 0 }
    const running = new AbortController()
    const answer = (isDone: boolean): Promise<void> =>
      orders.answer(placed, { kind: 'verify', at: clock.now(), isDone, ...report })
    const telling = this.#tellWhile(running.signal, () => answer(false))
    try {
      if (order.kind !== 'verify') return await orders.withdraw(placed)
      const watches = [...this.#watches].filter(
        (watch) => watch.partition === partition && (order.tenant === undefined || watch.tenant === order.tenant),
      )
      await eachOf(watches, async (watch) => add(report, await watch.verify()))
      running.abort(new Error('all is compared'))
      await telling
      await answer(true)
      logger.info(
        { partition: partition === HOST_PLACE ? 'host' : partition, order, ...report },
        'an order was carried out',
      )
    } catch (error) {
      logger.warn({ partition, order, err: error }, 'an order could not be carried out')
    } finally {
      running.abort(new Error('it has ended'))
    }
  }

  /** Tells now and then how far it is, so that nobody takes it for forgotten. */
  async #tellWhile(signal: AbortSignal, tell: () => Promise<void>): Promise<void> {
    const { clock, logger } = this.#options
    while (!signal.aborted) {
      await clock.sleep(TELL_EVERY_MS, signal).catch(() => undefined)
      if (signal.aborted) return
      await tell().catch((error: unknown) => logger.warn({ err: error }, 'how far an order is could not be told'))
    }
  }
}

function add(report: Report, found: Found): void {
  if (found === undefined) return
  report.lists++
  report.missed += found.missed
  report.gone += found.gone
}

/** Does something for each, some at a time. */
async function eachOf<T>(items: readonly T[], act: (item: T) => Promise<void>): Promise<void> {
  const rest = [...items]
  const take = async (): Promise<void> => {
    for (let item = rest.shift(); item !== undefined; item = rest.shift()) await act(item)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, take))
}
