import type { Clock } from '#libs/kernel'
import { KubeApiError } from '#libs/kube'
import type { WriterClient } from './ports.ts'

const TIMEOUT_MS = 5_000

/** Whether the host's API answers, asked at most once in a while however many want to know. */
export class HostPulse {
  readonly #host: () => Pick<WriterClient, 'clusterIdentity'>
  readonly #clock: Clock
  readonly #freshMs: number
  #asked: { at: number; answer: Promise<boolean> } | undefined

  /** @param options.freshMs how old an answer may be, in milliseconds */
  constructor(options: { host: () => Pick<WriterClient, 'clusterIdentity'>; clock: Clock; freshMs: number }) {
    this.#host = options.host
    this.#clock = options.clock
    this.#freshMs = options.freshMs
  }

  isReachable(): Promise<boolean> {
    const now = this.#clock.now()
    if (this.#asked === undefined || now >= this.#asked.at + this.#freshMs) {
      this.#asked = { at: now, answer: this.#ask() }
    }
    return this.#asked.answer
  }

  async #ask(): Promise<boolean> {
    try {
      await this.#host().clusterIdentity({ timeoutMs: TIMEOUT_MS })
      return true
    } catch (error) {
      // One that refuses is there.
      return error instanceof KubeApiError && error.statusCode < 500
    }
  }
}
