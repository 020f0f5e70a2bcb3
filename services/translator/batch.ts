import type { Intent, LoggedChange } from '#libs/events'
import type { DecisionKey } from '#libs/projection'
import { decideRank } from '#libs/translation'
import type { Cause } from './plan.ts'

/** What a batch of messages has touched: each key once, with the last change that led to it. */
export class Batch {
  /** Intents that follow from outcomes and reports directly. */
  readonly announcements: Intent[] = []
  readonly #touched = new Map<string, { key: DecisionKey; cause: Cause }>()

  get isEmpty(): boolean {
    return this.#touched.size === 0 && this.announcements.length === 0
  }

  add(keys: readonly DecisionKey[], cause: Cause): void {
    for (const key of keys) {
      this.#touched.set(`${key.tenant}/${key.ref.resource}/${key.ref.namespace}/${key.ref.name}`, { key, cause })
    }
  }

  /** The keys to decide about: what others need comes first. */
  inOrder(): { key: DecisionKey; cause: Cause }[] {
    const rank = (item: { key: DecisionKey }): number => decideRank(item.key.ref.resource)
    return [...this.#touched.values()].toSorted((a, b) => rank(a) - rank(b))
  }
}

/** The cause of what follows from a change. */
export function causeOf(change: LoggedChange): Cause {
  const { seq, observedAt, storedAt, traceparent } = change
  return { seq, observedAt, loggedAt: storedAt, ...(traceparent === undefined ? {} : { traceparent }) }
}
