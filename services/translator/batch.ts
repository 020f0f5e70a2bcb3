import type { Intent, LoggedChange } from '#libs/events'
import type { DecisionKey } from '#libs/projection'
import { decideRank } from '#libs/translation'
import type { Cause } from './plan.ts'

type Touched = { key: DecisionKey; cause: Cause }

/** What a batch of messages has touched: each key once, with the last change that led to it. */
export class Batch {
  /** Intents that follow from outcomes and reports directly. */
  readonly announcements: Intent[] = []
  readonly #touched = new Map<string, Touched>()

  get isEmpty(): boolean {
    return this.#touched.size === 0 && this.announcements.length === 0
  }

  add(keys: readonly DecisionKey[], cause: Cause): void {
    for (const key of keys) {
      const id = `${key.tenant}/${key.ref.resource}/${key.ref.namespace}/${key.ref.name}`
      this.#touched.set(id, { key, cause: after(this.#touched.get(id)?.cause, cause) })
    }
  }

  /**
   * The keys to decide about: of each tenant what others need comes first, and tenants take turns, so that one with much
   * to decide about keeps those with little waiting for no more than a turn of each.
   */
  inOrder(): Touched[] {
    const byTenant = new Map<string, Touched[]>()
    for (const item of this.#touched.values()) {
      const own = byTenant.get(item.key.tenant)
      if (own === undefined) byTenant.set(item.key.tenant, [item])
      else own.push(item)
    }
    const rank = (item: Touched): number => decideRank(item.key.ref.resource)
    return inTurns([...byTenant.values()].map((own) => own.toSorted((a, b) => rank(a) - rank(b))))
  }
}

function inTurns<T>(lists: readonly (readonly T[])[]): T[] {
  if (lists.length < 2) return [...(lists[0] ?? [])]
  const longest = Math.max(...lists.map((list) => list.length))
  return Array.from({ length: longest }, (_, turn) => lists.flatMap((list) => list.slice(turn, turn + 1))).flat()
}

/** How many earlier changes a decision tells of. */
const EARLIER_LIMIT = 16

/** A cause that another one was there before. */
function after(earlier: Cause | undefined, cause: Cause): Cause {
  if (earlier?.traceparent === undefined) return cause
  return { ...cause, earlier: [...(earlier.earlier ?? []), earlier.traceparent].slice(-EARLIER_LIMIT) }
}

/** The cause of what follows from a change. */
export function causeOf(change: LoggedChange): Cause {
  const { seq, observedAt, storedAt, traceparent } = change
  return { seq, observedAt, loggedAt: storedAt, ...(traceparent === undefined ? {} : { traceparent }) }
}
