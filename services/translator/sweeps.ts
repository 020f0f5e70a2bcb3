import type { DecisionKey, Projection, Sweep } from '#libs/projection'

/**
 * Sweeps under way: keys to be decided about when nothing more urgent is there. Keys are read from the projection as
 * they are taken, so that a sweep costs no memory and no pause however many there are.
 */
export class Sweeps {
  readonly #projection: Projection
  readonly #running = new Map<string, Iterator<DecisionKey, void, void>>()

  constructor(projection: Projection) {
    this.#projection = projection
  }

  get isEmpty(): boolean {
    return this.#running.size === 0
  }

  /** Begins a sweep; one of the same that is under way begins again. */
  add(sweep: Sweep): void {
    this.#running.set(`${sweep.tenant}/${sweep.resources?.join() ?? ''}`, this.#projection.sweep(sweep))
  }

  /** The next keys, at most `limit`. */
  take(limit: number): DecisionKey[] {
    const keys: DecisionKey[] = []
    for (const [id, sweep] of this.#running) {
      while (keys.length < limit) {
        const next = sweep.next()
        if (next.done === true) {
          this.#running.delete(id)
          break
        }
        keys.push(next.value)
      }
      if (keys.length >= limit) break
    }
    return keys
  }
}
