/**
 * An abort that comes with its parent's, or before it. `AbortSignal.any` would link a signal with each of those that the
 * parent was made of: with ten watches a tenant, that is a hundred weak references for each.
 */
export class ChildAbort {
  readonly #controller = new AbortController()
  readonly #parent: AbortSignal
  readonly #onAbort = (): void => this.abort(this.#parent.reason)

  constructor(parent: AbortSignal) {
    this.#parent = parent
    if (parent.aborted) this.#onAbort()
    else parent.addEventListener('abort', this.#onAbort, { once: true })
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  abort(reason?: unknown): void {
    this.close()
    this.#controller.abort(reason)
  }

  /** Lets go of the parent; to be called when nobody uses the signal any more. */
  close(): void {
    this.#parent.removeEventListener('abort', this.#onAbort)
  }
}
