import { randomUUID } from 'node:crypto'
import { type Bus, type Kv, openKv, openLeases } from '#libs/bus'
import { CausewayError, type Clock } from '#libs/kernel'
import type { ObjectRef } from '#libs/kube-model'
import type { Logger } from '#libs/telemetry'

/** What an operator asks of one partition's translator or watcher. Each may be carried out more than once. */
export type Order =
  /** Try what is parked now: of one object or, without, of the tenant; where a reason is given, what waits for that. */
  | { kind: 'retry'; tenant: string; object?: ObjectRef; reason?: string; by?: string; at: number }
  /** Try what of an object is parked no more, until what is to be written changes or a retry is ordered. */
  | { kind: 'drop'; tenant: string; object: ObjectRef; by?: string; at: number }
  /** Decide about every object again: of a tenant or, without, of the partition. */
  | { kind: 'patrol'; tenant?: string; by?: string; at: number }
  /** Of the watcher: list every kind and compare it with what was published; of a tenant or, without, of the partition. */
  | { kind: 'verify'; tenant?: string; by?: string; at: number }

/** Who carries orders out. */
export type OrderTaker = 'translator' | 'watcher'

/** The partition of an order for whoever watches the host. */
export const HOST_PLACE = -1

/** What became of an order so far. `at` in ms since the epoch. */
export type OrderAnswer = { at: number; isDone: boolean } & (
  | { kind: 'retry'; tried: number }
  /** `judged`: what is yet to be decided. */
  | { kind: 'drop'; dropped: number; judged: number }
  /** `repaired`: writes that only the patrol found to be missing, by rule. */
  | { kind: 'patrol'; looked: number; repaired: Record<string, number> }
  /** `lists`: kinds that were compared. Objects whose state (`missed`) or end (`gone`) no watch had told of. */
  | { kind: 'verify'; lists: number; missed: number; gone: number }
)

export type OrderAnswerOf<K extends Order['kind']> = Extract<OrderAnswer, { kind: K }>

/** An order as it lies in the bucket. */
export type PlacedOrder = { id: string; partition: number; order: Order }

/** What translators, or watchers, are told by whoever serves operators, and what they answer. */
export type Orders = {
  /** Puts an order where whoever has the partition finds it. @returns its id */
  place(partition: number, order: Order): Promise<string>
  /** What is said of an order, until it is done; then the answer is taken away. */
  answers(id: string, signal?: AbortSignal): AsyncIterable<OrderAnswer>
  /** Takes an order back that nobody has taken in. */
  withdraw(placed: Pick<PlacedOrder, 'id' | 'partition'>): Promise<void>
  /** For those who carry orders out: all that is to be done, by id; `ready` once all that was there is told. */
  follow(
    signal: AbortSignal,
  ): AsyncIterable<{ type: 'placed'; placed: PlacedOrder } | { type: 'gone'; id: string } | { type: 'ready' }>
  /** For those who carry orders out: tells how far an order is; one that is done is taken off. */
  answer(placed: Pick<PlacedOrder, 'id' | 'partition'>, answer: OrderAnswer): Promise<void>
}

/** What nobody takes in for this long, and answers that nobody reads, go. */
const TTL_MS = 3_600_000
const PREFIX: Record<OrderTaker, string> = { translator: 'order.', watcher: 'verify.' }
const ANSWER = 'answer.'
const HOST = 'host'

/**
 * Opens the bucket of orders: `order.<partition>.<id>` for translators, `verify.<partition, or host>.<id>` for watchers,
 * and `answer.<id>`.
 * @param by who carries them out
 */
export async function openOrders(bus: Bus, replicas: number, by: OrderTaker = 'translator'): Promise<Orders> {
  const kv = await openKv<Order | OrderAnswer>(bus, {
    bucket: 'causeway-orders',
    replicas,
    ttlMs: TTL_MS,
    description: 'what operators ask of translators and watchers',
  })
  const keyOf = ({ id, partition }: Pick<PlacedOrder, 'id' | 'partition'>): string =>
    `${PREFIX[by]}${partition === HOST_PLACE ? HOST : partition}.${id}`
  return {
    place: async (partition, order) => {
      const id = randomUUID()
      await kv.put(keyOf({ id, partition }), order)
      return id
    },
    answers: (id, signal) => readAnswers(kv, id, signal),
    withdraw: async (placed) => {
      await kv.delete(keyOf(placed))
      await kv.delete(ANSWER + placed.id)
    },
    follow: (signal) => followOrders(kv, PREFIX[by], signal),
    answer: async (placed, answer) => {
      // Killed in between, the next owner does it once more and answers the same.
      await kv.put(ANSWER + placed.id, answer)
      if (answer.isDone) await kv.delete(keyOf(placed))
    },
  }
}

async function* readAnswers(
  kv: Kv<Order | OrderAnswer>,
  id: string,
  signal: AbortSignal | undefined,
): AsyncGenerator<OrderAnswer, void, void> {
  const key = ANSWER + id
  for await (const event of kv.watch({ filter: key, ...(signal === undefined ? {} : { signal }) })) {
    if (event.type !== 'put') continue
    const answer = event.value as OrderAnswer
    // Before it is told: whoever asked may listen no more after that.
    if (answer.isDone) await kv.delete(key)
    yield answer
    if (answer.isDone) return
  }
}

async function* followOrders(
  kv: Kv<Order | OrderAnswer>,
  prefix: string,
  signal: AbortSignal,
): AsyncGenerator<
  { type: 'placed'; placed: PlacedOrder } | { type: 'gone'; id: string } | { type: 'ready' },
  void,
  void
> {
  for await (const event of kv.watch({ filter: `${prefix}*.*`, signal })) {
    if (event.type === 'ready') {
      yield event
      continue
    }
    const [, place = '', id = ''] = event.key.split('.')
    const partition = place === HOST ? HOST_PLACE : Number(place)
    if (event.type === 'delete') yield { type: 'gone', id }
    else yield { type: 'placed', placed: { id, partition, order: event.value as Order } }
  }
}

export type GiveOrderOptions<K extends Order['kind']> = {
  partition: number
  order: Extract<Order, { kind: K }>
  replicas: number
  clock: Clock
  signal: AbortSignal
  /** How long nobody may say anything, in milliseconds. @default 30 s */
  patienceMs?: number
  /** Told of each answer before the last. */
  onProgress?: (answer: OrderAnswerOf<K>) => void
}

const PATIENCE_MS = 30_000

/**
 * Gives an order and waits until it is carried out. One that nobody takes in is taken back.
 * @throws CausewayError `NoOwner` when nobody owns the partition, `NotAnswered` when the one that does says nothing
 */
export async function giveOrder<K extends Order['kind']>(
  bus: Bus,
  options: GiveOrderOptions<K>,
): Promise<OrderAnswerOf<K>> {
  const { partition, order, replicas, clock, signal, onProgress, patienceMs = PATIENCE_MS } = options
  const by = order.kind === 'verify' ? 'watcher' : 'translator'
  const orders = await openOrders(bus, replicas, by)
  const id = await orders.place(partition, order)
  const waiting = new AbortController()
  let heardAt = clock.now()
  const impatience = (async () => {
    for (let left = patienceMs; left > 0; left = heardAt + patienceMs - clock.now())
      await clock.sleep(left, waiting.signal)
    waiting.abort(new Error('no answer'))
  })().catch(() => undefined)
  try {
    for await (const each of orders.answers(id, AbortSignal.any([signal, waiting.signal]))) {
      heardAt = clock.now()
      const answer = each as OrderAnswerOf<K>
      if (answer.isDone) return answer
      onProgress?.(answer)
    }
  } finally {
    waiting.abort(new Error('the wait is over'))
    await impatience
  }
  await orders.withdraw({ id, partition })
  signal.throwIfAborted()
  throw await unanswered(bus, { by, partition, replicas, patienceMs })
}

async function unanswered(
  bus: Bus,
  of: { by: OrderTaker; partition: number; replicas: number; patienceMs: number },
): Promise<CausewayError> {
  const { by, partition, replicas, patienceMs } = of
  const isHost = partition === HOST_PLACE
  const key = isHost ? `${by}-host.0` : `${by}.${partition}`
  const place = isHost ? 'the host' : `partition ${partition}`
  const leases = await openLeases(bus, { owner: 'reader', replicas })
  for await (const holders of leases.watchHolders({ filter: key })) {
    if (holders.has(key)) break
    return new CausewayError(`no ${by} owns ${place}: start one, and ask again`, { code: 'NoOwner' })
  }
  return new CausewayError(
    `the ${by} of ${place} has not answered for ${patienceMs / 1_000} s; nothing more is asked of it`,
    { code: 'NotAnswered' },
  )
}

/**
 * Keeps the open orders at hand for as long as the signal allows, and tells of each that is placed. Never rejects: a
 * service goes on without orders.
 */
export async function keepOpenOrders(options: {
  orders: Pick<Orders, 'follow'>
  open: Map<string, PlacedOrder>
  begin: (placed: PlacedOrder) => void
  logger: Logger
  signal: AbortSignal
}): Promise<void> {
  const { orders, open, begin, logger, signal } = options
  try {
    for await (const event of orders.follow(signal)) {
      if (event.type === 'gone') open.delete(event.id)
      else if (event.type === 'placed') {
        open.set(event.placed.id, event.placed)
        begin(event.placed)
      }
    }
  } catch (error) {
    if (!signal.aborted) logger.error({ err: error }, 'orders are followed no more')
  }
}
