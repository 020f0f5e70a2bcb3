/** What has been started, to be closed in the reverse order. */
export class CloseStack {
  readonly #steps: (() => Promise<void>)[] = []

  push(step: () => Promise<void>): void {
    this.#steps.push(step)
  }

  /** Closes everything; one step's failure does not keep the others from being closed. */
  async close(): Promise<void> {
    const errors: unknown[] = []
    for (let step = this.#steps.pop(); step !== undefined; step = this.#steps.pop()) {
      await step().catch((error: unknown) => errors.push(error))
    }
    if (errors.length > 0) throw new AggregateError(errors, 'not everything could be stopped in order')
  }
}
