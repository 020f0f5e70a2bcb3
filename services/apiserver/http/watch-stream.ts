import type { Response } from './exchange.ts'

export type WatchStreamOptions = {
  response: Response
  /** Events that wait for a slow client; more, and the stream ends. */
  maxQueued: number
}

/**
 * Sends lines to a client as fast as it takes them. Lines that are there at the start come from an iterator and are
 * made only when they can be sent; later ones wait in a bounded queue.
 */
export class WatchStream {
  readonly #response: Response
  readonly #maxQueued: number
  #queue: Buffer[] = []
  #next = 0
  #initial: Iterator<Buffer> | undefined
  #isBlocked = false
  #isEnding = false
  #isClosed = false

  constructor(options: WatchStreamOptions) {
    this.#response = options.response
    this.#maxQueued = options.maxQueued
    this.#response.on('drain', () => {
      this.#isBlocked = false
      this.#pump()
    })
    this.#response.on('close', () => {
      this.#isClosed = true
      this.#queue = []
      this.#initial = undefined
    })
    this.#response.on('error', () => this.#response.destroy())
  }

  /** Sends these before anything else. */
  start(initial: Iterable<Buffer>): void {
    this.#initial = initial[Symbol.iterator]()
    this.#pump()
  }

  /** Sends a line after those before it. A client that falls too far behind is cut off: it can watch anew. */
  push(line: Buffer): void {
    if (this.#isClosed || this.#isEnding) return
    if (this.#queue.length - this.#next >= this.#maxQueued) {
      this.#response.destroy()
      return
    }
    this.#queue.push(line)
    this.#pump()
  }

  /** Ends the stream after what was pushed. */
  end(): void {
    this.#isEnding = true
    this.#pump()
  }

  #pump(): void {
    while (!this.#isBlocked && !this.#isClosed) {
      const line = this.#take()
      if (line === undefined) {
        if (this.#isEnding) {
          this.#isClosed = true
          this.#response.end()
        }
        return
      }
      this.#isBlocked = !(this.#response as { write: (chunk: Buffer) => boolean }).write(line)
    }
  }

  #take(): Buffer | undefined {
    if (this.#initial !== undefined) {
      const step = this.#initial.next()
      if (step.done !== true) return step.value
      this.#initial = undefined
    }
    const line = this.#queue[this.#next]
    if (line === undefined) {
      this.#queue = []
      this.#next = 0
      return undefined
    }
    this.#next += 1
    if (this.#next > 1024) {
      this.#queue = this.#queue.slice(this.#next)
      this.#next = 0
    }
    return line
  }
}
