import { sha256Hex } from '#libs/kernel'
import type { ObjectKey } from '#libs/kube-model'
import type { DecisionKey, Pending, Projection } from '#libs/projection'

/** The row of a key of which the log holds a message that cannot be read. */
export const UNREAD_SLOT = 'unread'

/**
 * Objects whose last message in the log could not be read, so that what is known of them is of an earlier state. That
 * stays so until a later one can.
 */
export class UnreadMessages {
  readonly #projection: Pick<Projection, 'pending' | 'copies' | 'objects'>
  /** By the object, the key that it counts for. As a rule there are none. */
  readonly #unread: Map<string, DecisionKey>

  constructor(projection: Pick<Projection, 'pending' | 'copies' | 'objects'>) {
    this.#projection = projection
    this.#unread = new Map(
      projection.pending.inSlot(UNREAD_SLOT).map(({ tenant, ref, intentId }) => [intentId, { tenant, ref }] as const),
    )
  }

  /**
   * Notes a message that cannot be read.
   * @returns the key that it counts for, when it did not before; undefined for what is of no tenant's object
   */
  note(object: ObjectKey, what: { message: string; now: number }): DecisionKey | undefined {
    const key = this.#keyOf(object)
    if (key === undefined) return undefined
    const id = idOf(object)
    const isNew = !this.#unread.has(id)
    this.#unread.set(id, key)
    this.#projection.pending.put(key, unreadRow(id, what))
    return isNew ? key : undefined
  }

  /** Takes in that a later message of an object can be read. */
  read(object: ObjectKey): void {
    if (this.#unread.size === 0) return
    const id = idOf(object)
    const key = this.#unread.get(id)
    if (key === undefined) return
    this.#unread.delete(id)
    this.#projection.pending.delete(key, UNREAD_SLOT)
  }

  /** A copy counts for its original. */
  #keyOf(object: ObjectKey): DecisionKey | undefined {
    const { tenant, side, resource, namespace, name } = object
    if (tenant === '') return undefined
    if (side === 'virtual') return { tenant, ref: { resource, namespace, name } }
    const made = this.#projection.copies.get(object)
    return made === undefined ? undefined : { tenant, ref: made.ref }
  }
}

function unreadRow(id: string, { message, now }: { message: string; now: number }): Pending {
  return {
    slot: UNREAD_SLOT,
    intentId: id,
    digest: sha256Hex(message).slice(0, 20),
    attempt: 0,
    state: 'parked',
    carriesBase: false,
    reason: 'PoisonMessage',
    message,
    since: now,
  }
}

function idOf({ side, resource, namespace, name, tenant }: ObjectKey): string {
  return `${tenant}/${side}/${resource}/${namespace}/${name}`
}
