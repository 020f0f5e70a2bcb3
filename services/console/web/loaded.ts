import { ApiProblem } from './api.ts'

/** Something that is asked for: what was answered last, or why there is no answer. A later question overtakes an earlier one. */
export class Loaded<T> {
  value: T | undefined
  problem: string | undefined
  isLoading = false
  readonly #update: () => void
  #asked = 0

  constructor(update: () => void) {
    this.#update = update
  }

  async load(question: () => Promise<T>): Promise<void> {
    this.#asked += 1
    const mine = this.#asked
    this.isLoading = true
    this.#update()
    try {
      const value = await question()
      if (mine !== this.#asked) return
      this.value = value
      this.problem = undefined
    } catch (error) {
      if (mine !== this.#asked || isAbort(error)) return
      this.problem = error instanceof ApiProblem ? error.message : 'the console does not answer'
    } finally {
      if (mine === this.#asked) this.isLoading = false
      this.#update()
    }
  }
}

function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'AbortError'
}
