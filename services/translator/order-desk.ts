import { partitionOf } from '#libs/events'
import type { Clock } from '#libs/kernel'
import { type Order, type OrderAnswer, type Orders, type PlacedOrder, keepOpenOrders } from '#libs/runtime'
import type { Logger } from '#libs/telemetry'
import type { OperatorsOrders } from './operators-orders.ts'
import type { PatrolReport } from './patrol.ts'

/** What carries orders out. Each resolves when that is committed, to `undefined` when the work ended before. */
export type OrderTaker = Pick<OperatorsOrders, 'retry' | 'drop' | 'patrol'>

export type OrderDeskOptions = {
  orders: Pick<Orders, 'follow' | 'answer' | 'withdraw'>
  partitions: number
  clock: Clock
  logger: Logger
  /** Who has a partition, in this process. */
  workerOf: (partition: number) => OrderTaker | undefined
  signal: AbortSignal
}

const TELL_EVERY_MS = 1_000
const AGAIN_MS = 1_000

/** Takes in what operators order and has it carried out by whoever has the partition. */
export class OrderDesk {
  readonly #options: OrderDeskOptions
  readonly #open = new Map<string, PlacedOrder>()
  readonly #underWay = new Map<string, OrderTaker>()

  constructor(options: OrderDeskOptions) {
    this.#options = options
    void keepOpenOrders({ ...options, open: this.#open, begin: (placed) => this.#begin(placed) })
  }

  /** Has carried out what was ordered of a partition before it was taken. */
  taken(partition: number): void {
    for (const placed of this.#open.values()) if (placed.partition === partition) this.#begin(placed)
  }

  #begin(placed: PlacedOrder): void {
    const worker = this.#options.workerOf(placed.partition)
    if (worker === undefined || this.#underWay.get(placed.id) === worker) return
    this.#underWay.set(placed.id, worker)
    void this.#carryOut(worker, placed).finally(() => {
      if (this.#underWay.get(placed.id) === worker) this.#underWay.delete(placed.id)
    })
  }

  /** Never rejects. What cannot be done is done again while the same worker has the partition. */
  async #carryOut(worker: OrderTaker, placed: PlacedOrder): Promise<void> {
    const { orders, logger, clock, signal, workerOf, partitions } = this.#options
    const { id, partition, order } = placed
    while (!signal.aborted && workerOf(partition) === worker && this.#open.has(id)) {
      try {
        const problem = problemOf(placed, partitions)
        if (problem !== undefined) {
          logger.warn({ partition, problem }, 'an order cannot be carried out; it is taken off')
          await orders.withdraw(placed)
          return
        }
        const answer = await this.#act(worker, placed)
        if (answer === undefined) return
        await orders.answer(placed, answer)
        logger.info({ partition, order, answer }, 'an order was carried out')
        return
      } catch (error) {
        logger.warn({ partition, order, err: error }, 'an order could not be carried out; it is tried again')
        await clock.sleep(AGAIN_MS, signal).catch(() => undefined)
      }
    }
  }

  async #act(worker: OrderTaker, placed: PlacedOrder): Promise<OrderAnswer | undefined> {
    const { clock } = this.#options
    const { order } = placed
    const told = <T extends object>(what: T, isDone: boolean): { at: number; isDone: boolean } & T => ({
      at: clock.now(),
      isDone,
      ...what,
    })
    if (order.kind === 'retry') {
      const tried = await worker.retry(order)
      return tried === undefined ? undefined : told({ kind: order.kind, tried }, true)
    }
    if (order.kind === 'drop') {
      const dropped = await worker.drop(order)
      return dropped === undefined ? undefined : told({ kind: order.kind, ...dropped }, true)
    }
    let so: PatrolReport = { looked: 0, repaired: {} }
    const running = new AbortController()
    const telling = this.#tellWhile(running.signal, placed, () => told({ kind: 'patrol' as const, ...so }, false))
    try {
      const report = await worker.patrol(order.tenant, (seen) => {
        so = { looked: seen.looked, repaired: { ...seen.repaired } }
      })
      return report === undefined ? undefined : told({ kind: 'patrol' as const, ...report }, true)
    } finally {
      running.abort(new Error('the patrol has ended'))
      // The last word must come last.
      await telling
    }
  }

  /** Tells now and then how far an order is, also where that is no further, so that nobody takes it for forgotten. */
  async #tellWhile(signal: AbortSignal, placed: PlacedOrder, answer: () => OrderAnswer): Promise<void> {
    const { clock, orders, logger } = this.#options
    while (!signal.aborted) {
      await clock.sleep(TELL_EVERY_MS, signal).catch(() => undefined)
      if (signal.aborted) return
      await orders
        .answer(placed, answer())
        .catch((error: unknown) => logger.warn({ err: error }, 'how far a patrol is could not be told'))
    }
  }
}

/** What is wrong with an order: whoever can write to the bucket may have placed it. */
function problemOf({ partition, order }: PlacedOrder, partitions: number): string | undefined {
  const { kind, tenant } = order as { kind: unknown; tenant?: unknown }
  if (kind !== 'retry' && kind !== 'drop' && kind !== 'patrol') return 'its kind is not known'
  if (tenant === undefined) return kind === 'patrol' ? undefined : 'it names no tenant'
  if (typeof tenant !== 'string' || partitionOf(tenant, partitions) !== partition)
    return 'its tenant is of another partition'
  const { object } = order as Extract<Order, { kind: 'drop' }> | { object?: undefined }
  if (object === undefined) return kind === 'drop' ? 'it names no object' : undefined
  const isNamed = [object.resource, object.namespace, object.name].every((part) => typeof part === 'string')
  return isNamed ? undefined : 'its object has no resource, namespace or name'
}
