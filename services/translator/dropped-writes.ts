import type { ObjectRef } from '#libs/kube-model'
import type { DecisionKey, Pending, Projection, Retrying } from '#libs/projection'
import type { DroppedWrites } from '#libs/runtime'
import type { DroppedMarks } from './dropped-marks.ts'
import { isJudged } from './plan.ts'

const NONE: ReadonlySet<string> = new Set()

/** Marks of whoever keeps none: nothing is dropped, and nothing can be. */
export const NO_MARKS: Pick<DroppedMarks, 'get' | 'of' | 'set' | 'clear'> = {
  get: () => undefined,
  of: () => [],
  set: () => Promise.reject(new Error('nothing that is dropped is kept here')),
  clear: () => undefined,
}

/**
 * What operators do with writes that are parked: a retry makes them due, a drop keeps them from ever being due. A drop
 * means the very same write, or rejection for the very same cause. One that differs, since the object has changed, is
 * made, or counts, as any other.
 */
export class DroppedWritesKeeper {
  readonly #pending: Projection['pending']
  readonly #marks: Pick<DroppedMarks, 'get' | 'of' | 'set' | 'clear'>

  constructor(projection: Pick<Projection, 'pending'>, marks: Pick<DroppedMarks, 'get' | 'of' | 'set' | 'clear'>) {
    this.#pending = projection.pending
    this.#marks = marks
  }

  /**
   * Keeps what is dropped from being made, after a decision about the key.
   * @param before what was under way before the decision
   * @returns ids of intents that must not be published
   */
  keep(key: DecisionKey, before: readonly Pending[]): ReadonlySet<string> {
    const mark = this.#marks.get(key)
    if (mark === undefined) return NONE
    const kept = new Set<string>()
    const marked = this.#pending.of(key).filter((row) => isMeant(mark, row))
    for (const row of marked) {
      const earlier = before.find(({ slot, digest }) => slot === row.slot && digest === row.digest)
      // What is in the log already may be made; its outcome tells.
      const isInLog = row.state === 'issued' && row.intentId === earlier?.intentId
      if (isInLog || row.state === 'done' || row.state === 'settled') continue
      if (row.state === 'issued') kept.add(row.intentId)
      if (row.state !== 'parked' || row.due !== undefined) this.#pending.put(key, neverDue(row, { earlier, mark }))
    }
    if (marked.length === 0) this.#marks.clear(key)
    return kept
  }

  /**
   * Drops what of an object is parked: writes, and what was rejected before any.
   * @returns how much of that, and how much is yet to be decided; rejects when it cannot be stored
   */
  async drop(key: DecisionKey, how: { at: number; by?: string }): Promise<{ dropped: number; judged: number }> {
    const waiting = this.#pending.of(key).filter(({ reason, state }) => reason !== undefined && WAITS.has(state))
    const judged = waiting.filter(isJudged).length
    const writes = waiting.filter((row) => !isJudged(row))
    const [first] = writes
    if (first === undefined) return { dropped: 0, judged }
    const { at, by } = how
    const mark: DroppedWrites = {
      object: key.ref,
      at,
      ...(by === undefined ? {} : { by }),
      reason: first.reason ?? '',
      writes: writes.map(({ slot, digest }) => ({ slot, digest })),
    }
    await this.#marks.set(key.tenant, mark)
    for (const row of writes) if (row.state !== 'issued') this.#pending.put(key, neverDue(row, { earlier: row, mark }))
    return { dropped: writes.length, judged }
  }

  /** Makes due what is parked, dropped or not. @returns how many objects that concerns */
  retry(order: Retrying): number {
    const { tenant, object, reason } = order
    const isMarkMeant = (mark: DroppedWrites): boolean =>
      (reason === undefined || mark.reason === reason) && (object === undefined || isSame(mark.object, object))
    for (const mark of this.#marks.of(tenant)) if (isMarkMeant(mark)) this.#marks.clear({ tenant, ref: mark.object })
    const keys = this.#pending.retry({
      tenant,
      ...(object === undefined ? {} : { object }),
      ...(reason === undefined ? {} : { reason }),
    })
    return new Set(keys.map(({ ref }) => `${ref.resource}/${ref.namespace}/${ref.name}`)).size
  }
}

const WAITS: ReadonlySet<Pending['state']> = new Set<Pending['state']>(['parked', 'retry', 'issued', 'waiting'])

function isSame(a: ObjectRef, b: ObjectRef): boolean {
  return a.resource === b.resource && a.namespace === b.namespace && a.name === b.name
}

function isMeant({ writes }: DroppedWrites, row: Pending): boolean {
  return writes.some(({ slot, digest }) => slot === row.slot && digest === row.digest)
}

/** The row of a write that waits for no time: for its object to change, or for an order. */
function neverDue(row: Pending, of: { earlier: Pending | undefined; mark: DroppedWrites }): Pending {
  const { earlier = row, mark } = of
  const { due: _due, resultVersion: _version, ...rest } = row
  const { message } = earlier
  return {
    ...rest,
    intentId: earlier === row && row.state === 'issued' ? '' : earlier.intentId,
    attempt: earlier.attempt,
    since: earlier.since,
    state: 'parked',
    reason: earlier.reason ?? mark.reason,
    ...(message === undefined ? {} : { message }),
  }
}
