/** Which of the leases that someone must hold nobody holds. */
export class Vacancies {
  readonly #wanted: readonly string[]
  readonly #held = new Map<string, Iterable<string>>()

  /** @param wanted keys of the leases */
  constructor(wanted: readonly string[]) {
    this.#wanted = wanted
  }

  /** Takes note of who holds what, as far as one filter shows it. */
  update(filter: string, holders: ReadonlyMap<string, unknown>): void {
    this.#held.set(filter, holders.keys().toArray())
  }

  /** In words; empty when every lease is held. */
  problems(): string[] {
    const held = new Set([...this.#held.values()].flatMap((keys) => [...keys]))
    const vacant = this.#wanted.filter((key) => !held.has(key))
    return vacant.length === 0 ? [] : [`nobody holds ${vacant.join(', ')}`]
  }
}
