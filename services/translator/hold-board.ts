import type { Kv } from '#libs/bus'
import { jsonEqual } from '#libs/kernel'
import { CONFIRMATION_PREFIX, type DeletionHold, HOLD_PREFIX, type HoldConfirmation } from '#libs/runtime'
import type { Logger } from '#libs/telemetry'
import type { HoldBoard } from './deletion-guard.ts'

export type KeptHoldsOptions = {
  kv: Kv<DeletionHold | HoldConfirmation>
  logger: Logger
  /** Told of an operator's word, also of one that was given while nobody listened. */
  onConfirmed: (tenant: string, since: number) => void
  signal: AbortSignal
}

/** Stopped deletions in their bucket: shown to operators, whose answer comes the same way. */
export class KeptHolds implements HoldBoard {
  readonly #options: KeptHoldsOptions
  readonly #holds = new Map<string, DeletionHold>()
  readonly #confirmations = new Map<string, HoldConfirmation>()
  readonly #read = Promise.withResolvers<void>()
  /** Writes of one tenant, one after the other. */
  readonly #writing = new Map<string, Promise<void>>()

  constructor(options: KeptHoldsOptions) {
    this.#options = options
    void this.#follow()
  }

  /** Resolves when all that was stored is known. Never rejects: what cannot be read is found out anew. */
  get read(): Promise<void> {
    return this.#read.promise
  }

  get(tenant: string): DeletionHold | undefined {
    return this.#holds.get(tenant)
  }

  /** An operator's word on a tenant that has not been taken in yet. */
  confirmation(tenant: string): HoldConfirmation | undefined {
    return this.#confirmations.get(tenant)
  }

  set(tenant: string, hold: DeletionHold): void {
    if (jsonEqual(this.#holds.get(tenant), hold)) return
    this.#holds.set(tenant, hold)
    this.#write(tenant, async () => void (await this.#options.kv.put(HOLD_PREFIX + tenant, hold)))
  }

  clear(tenant: string): void {
    this.#holds.delete(tenant)
    this.#write(tenant, async () => void (await this.#options.kv.delete(HOLD_PREFIX + tenant)))
  }

  /** Takes an operator's word off the board, when all that follows from it is stored. */
  async answered(tenant: string): Promise<void> {
    this.#confirmations.delete(tenant)
    await this.#options.kv.delete(CONFIRMATION_PREFIX + tenant)
  }

  #write(tenant: string, write: () => Promise<void>): void {
    const { logger } = this.#options
    const writing = (this.#writing.get(tenant) ?? Promise.resolve())
      .then(write)
      .catch((error: unknown) => logger.warn({ tenant, err: error }, 'stopped deletions could not be told'))
      .then(() => {
        if (this.#writing.get(tenant) === writing) this.#writing.delete(tenant)
      })
    this.#writing.set(tenant, writing)
  }

  async #follow(): Promise<void> {
    const { kv, signal, logger, onConfirmed } = this.#options
    try {
      for await (const event of kv.watch({ signal })) {
        if (event.type === 'ready') this.#read.resolve()
        else if (event.key.startsWith(HOLD_PREFIX)) {
          // What is told here is known; what others told is for the time when their partition is taken over.
          const tenant = event.key.slice(HOLD_PREFIX.length)
          if (event.type === 'delete') this.#holds.delete(tenant)
          else this.#holds.set(tenant, event.value as DeletionHold)
        } else if (event.type === 'put') {
          const tenant = event.key.slice(CONFIRMATION_PREFIX.length)
          const confirmation = event.value as HoldConfirmation
          this.#confirmations.set(tenant, confirmation)
          onConfirmed(tenant, confirmation.since)
        }
      }
    } catch (error) {
      if (!signal.aborted) logger.error({ err: error }, 'answers to stopped deletions are followed no more')
    } finally {
      this.#read.resolve()
    }
  }
}
