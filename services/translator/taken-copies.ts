import type { LoggedChange } from '#libs/events'
import type { DecisionKey, Projection } from '#libs/projection'

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

  /** Whether the copy of a key was taken since this was asked last. */
  take(key: DecisionKey): boolean {
    return this.#taken.size > 0 && this.#taken.delete(idOf(key))
  }
}

function idOf({ tenant, ref }: DecisionKey): string {
  return `${tenant}/${ref.resource}/${ref.namespace}/${ref.name}`
}
