import type { Intent, LoggedChange } from '#libs/events'
import type { DecisionKey, Pending, Projection } from '#libs/projection'
import type { View } from '#libs/translation'

/** Copies that somebody else has deleted on the host, from when that is seen until it is decided what follows. */
export class TakenCopies {
  readonly #projection: Pick<Projection, 'copies' | 'pending'>
  readonly #taken = new Set<string>()

  constructor(projection: Pick<Projection, 'copies' | 'pending'>) {
    this.#projection = projection
  }

  /** Looks at a change before it is folded in: after that it is not known any more what the object was. */
  see({ key, type, uid }: LoggedChange): void {
    if (type !== 'DELETED' || key.side !== 'host' || key.tenant === '') return
    const made = this.#projection.copies.get(key)
    if (made?.uid !== uid) return
    const owner: DecisionKey = { tenant: key.tenant, ref: made.ref }
    const own = `host/${key.resource}/${key.namespace}/${key.name}/delete`
    if (this.#projection.pending.of(owner).some(({ slot }) => slot === own)) return
    this.#taken.add(idOf(owner))
  }

  /** Whether the copy of a key was taken, and what follows is not decided yet. */
  has(key: DecisionKey): boolean {
    return this.#taken.size > 0 && this.#taken.has(idOf(key))
  }

  /** What follows is decided. */
  settled(key: DecisionKey): void {
    this.#taken.delete(idOf(key))
  }
}

function idOf({ tenant, ref }: DecisionKey): string {
  return `${tenant}/${ref.resource}/${ref.namespace}/${ref.name}`
}

/**
 * What follows from a copy having been deleted by somebody else, if that is so: it is created again, or the tenant's pod
 * is deleted. That this was told before is seen from the deletion being under way.
 */
export function lossIn(
  { view, rows, intents }: { view: View; rows: readonly Pending[]; intents: readonly Intent[] },
  isTaken: boolean,
): 'created' | 'deleted' | undefined {
  if (view.virtual.object === undefined || view.virtual.object.metadata.deletionTimestamp !== undefined)
    return undefined
  if (isTaken && intents.some(({ write, target }) => write.op === 'create' && target.side === 'host')) return 'created'
  const isTold = rows.some(
    ({ slot, reason }) => reason === undefined && slot.startsWith('virtual/') && slot.endsWith('/delete'),
  )
  if (isTold) return undefined
  const isFollowed = intents.some(({ rule }) => rule === 'hostTerminating' || (rule === 'hostGone' && isTaken))
  return isFollowed ? 'deleted' : undefined
}
