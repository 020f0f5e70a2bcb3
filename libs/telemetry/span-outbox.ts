/** How spans leave the process; `done` is told whether they have been taken. */
export type SpanSink<T> = (spans: T[], done: (isTaken: boolean) => void) => void

export type SpanOutboxOptions<T> = {
  sink: SpanSink<T>
  /** Spans that may wait. */
  capacity: number
  /** Spans that go at once. */
  batch: number
  everyMs: number
  counted: (result: 'exported' | 'failed' | 'dropped', spans: number) => void
}

/** Holds spans until they are sent, in the background and one batch at a time. Nothing that records ever waits for it. */
export class SpanOutbox<T> {
  readonly #options: SpanOutboxOptions<T>
  #waiting: T[] = []
  #timer: NodeJS.Timeout | undefined
  #sending: Promise<void> | undefined

  constructor(options: SpanOutboxOptions<T>) {
    this.#options = options
  }

  /** @param share of the room that these spans may fill */
  add(spans: readonly T[], share = 1): void {
    const { capacity, batch, everyMs, counted } = this.#options
    // A trace as a whole or not at all: half of one misleads.
    if (this.#waiting.length + spans.length > capacity * share) {
      counted('dropped', spans.length)
      return
    }
    this.#waiting.push(...spans)
    if (this.#waiting.length >= batch) this.#send()
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined
      this.#send()
    }, everyMs).unref()
  }

  /** Sends what waits. */
  async flush(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    do {
      this.#send()
      await this.#sending
    } while (this.#waiting.length > 0)
  }

  #send(): void {
    const { sink, batch, counted } = this.#options
    if (this.#sending !== undefined || this.#waiting.length === 0) return
    const spans = this.#waiting.splice(0, batch)
    this.#sending = new Promise<boolean>((resolve) => sink(spans, resolve))
      .catch(() => false)
      .then((isTaken) => {
        counted(isTaken ? 'exported' : 'failed', spans.length)
        this.#sending = undefined
        if (this.#waiting.length >= batch) this.#send()
      })
  }
}
