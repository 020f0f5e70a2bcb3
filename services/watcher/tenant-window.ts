/** What is sent, until a translator has processed it. */
type Sent = { subject: string; seq: number }

/** One that has changes to send. */
export type Sender = {
  /**
   * Sends what is next. The promise resolves with its sequence in the log, or undefined when the log refuses it.
   * @param mayGo says of a subject whether it may go; one that may not has to wait for `release`
   */
  send(mayGo: (subject: string) => boolean): { subject: string; stored: Promise<number | undefined> } | undefined
  /** A subject may go again. @returns whether there is anything of it */
  release(subject: string): boolean
}

export type WindowLimits = {
  /** Changes of one tenant that the log has not acknowledged. */
  unacked: number
  /** Changes of one tenant that are not acknowledged or that its translator has not processed. */
  unprocessed: number
  /** The same of one object: one that changes all the time is told of in some of its states. */
  perObject: number
}

/** What is on its way from one tenant, of both sides and all kinds, to its translator. */
export class TenantWindow {
  readonly partition: number | undefined
  readonly #limits: WindowLimits
  readonly #senders = new Set<Sender>()
  readonly #perObject = new Map<string, number>()
  /** Who has something of a subject of which enough is under way. */
  readonly #held = new Map<string, Set<Sender>>()
  readonly #unprocessed: Sent[] = []
  #unacked = 0

  /** @param partition whose translator processes it; undefined when that is more than one */
  constructor(partition: number | undefined, limits: WindowLimits) {
    this.partition = partition
    this.#limits = limits
  }

  /** Whether something may be sent. */
  get isReady(): boolean {
    const { unacked, unprocessed } = this.#limits
    const isFull = this.#unacked >= unacked || this.#unacked + this.#unprocessed.length >= unprocessed
    return this.#senders.size > 0 && !isFull
  }

  /** Whether nothing is under way and nothing waits. */
  get isIdle(): boolean {
    return this.#unacked + this.#unprocessed.length + this.#senders.size + this.#held.size === 0
  }

  get isProcessed(): boolean {
    return this.#unprocessed.length === 0
  }

  ask(sender: Sender): void {
    this.#senders.add(sender)
  }

  /** Sends one change; its senders take turns. */
  send(): { subject: string; stored: Promise<number | undefined> } | undefined {
    for (const sender of this.#senders) {
      this.#senders.delete(sender)
      const sent = sender.send((subject) => this.#mayGo(subject, sender))
      if (sent === undefined) continue
      this.#senders.add(sender)
      this.#unacked++
      this.#perObject.set(sent.subject, (this.#perObject.get(sent.subject) ?? 0) + 1)
      return sent
    }
    return undefined
  }

  /** A change is stored. @param seq undefined when it need not be processed */
  stored(subject: string, seq: number | undefined): void {
    this.#unacked--
    if (seq === undefined) this.#free(subject)
    else this.#unprocessed.push({ subject, seq })
  }

  /** The translator has processed what is in the log up to a sequence. */
  processed(seq: number): void {
    for (let sent = this.#unprocessed[0]; sent !== undefined && sent.seq <= seq; sent = this.#unprocessed[0]) {
      this.#unprocessed.shift()
      this.#free(sent.subject)
    }
  }

  #mayGo(subject: string, sender: Sender): boolean {
    if ((this.#perObject.get(subject) ?? 0) < this.#limits.perObject) return true
    const held = this.#held.get(subject) ?? new Set()
    this.#held.set(subject, held.add(sender))
    return false
  }

  #free(subject: string): void {
    const left = (this.#perObject.get(subject) ?? 1) - 1
    if (left > 0) this.#perObject.set(subject, left)
    else this.#perObject.delete(subject)
    const held = this.#held.get(subject)
    if (held === undefined) return
    this.#held.delete(subject)
    for (const sender of held) if (sender.release(subject)) this.#senders.add(sender)
  }
}
