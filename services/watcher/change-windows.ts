import { type Sender, TenantWindow, type WindowLimits } from './tenant-window.ts'

export type ChangeWindowsOptions = WindowLimits & {
  /** Changes of all tenants that the log has not acknowledged. */
  unackedOfAll: number
  /** Whose translator processes a tenant's changes; undefined when that is more than one. */
  partitionOf: (tenant: string) => number | undefined
  /** Milliseconds, of any beginning. */
  now: () => number
}

/** How far a partition's translator is known to be. */
type Progress = {
  position: number
  /** When that, or what waits for it, was known first. */
  since: number
  /** Tenants of which something is not processed. */
  windows: Set<TenantWindow>
}

/** A translator that processes nothing for this long is not waited for: then the log is what keeps its changes. */
const STALLED_MS = 5_000

/**
 * All that goes from a process to the log passes here. Each tenant has a window of its own, and tenants take turns, so
 * that a busy one keeps nobody waiting, neither here nor at a translator.
 */
export class ChangeWindows {
  readonly #options: ChangeWindowsOptions
  readonly #tenants = new Map<string, TenantWindow>()
  /** In the order of their turns. */
  readonly #turns = new Set<TenantWindow>()
  readonly #partitions = new Map<number, Progress>()
  #unacked = 0

  constructor(options: ChangeWindowsOptions) {
    this.#options = options
  }

  /** Has a sender asked whenever one of its changes may go, until it has none. */
  ask(tenant: string, sender: Sender): void {
    let window = this.#tenants.get(tenant)
    if (window === undefined) {
      this.#forgetIdle()
      window = new TenantWindow(this.#options.partitionOf(tenant), this.#options)
      this.#tenants.set(tenant, window)
    }
    window.ask(sender)
    this.#onRoom(window)
    this.#pump()
  }

  /** The translator of a partition tells how far it is. */
  moved(partition: number, position: number): void {
    const progress = this.#partitions.get(partition)
    if (progress === undefined) {
      this.#partitions.set(partition, { position, since: this.#options.now(), windows: new Set() })
      return
    }
    progress.position = position
    progress.since = this.#options.now()
    this.#release(progress, position)
  }

  /** To be called from time to time: lets go what waits for translators that do not move. */
  sweep(): void {
    const now = this.#options.now()
    for (const [partition, progress] of this.#partitions) {
      if (progress.windows.size === 0 || now - progress.since < STALLED_MS) continue
      this.#partitions.delete(partition)
      this.#release(progress, Infinity)
    }
  }

  #release(progress: Progress, position: number): void {
    for (const window of progress.windows) {
      window.processed(position)
      if (window.isProcessed) progress.windows.delete(window)
      this.#onRoom(window)
    }
    this.#pump()
  }

  #onRoom(window: TenantWindow): void {
    if (window.isReady) this.#turns.add(window)
  }

  #pump(): void {
    for (const window of this.#turns) {
      if (this.#unacked >= this.#options.unackedOfAll) return
      this.#turns.delete(window)
      const sent = window.isReady ? window.send() : undefined
      if (sent === undefined) continue
      this.#unacked++
      // To the end, and met again in this loop.
      this.#onRoom(window)
      void sent.stored.then((seq) => this.#onStored(window, sent.subject, seq))
    }
  }

  #onStored(window: TenantWindow, subject: string, seq: number | undefined): void {
    this.#unacked--
    const progress = window.partition === undefined ? undefined : this.#partitions.get(window.partition)
    const mustWait = progress !== undefined && seq !== undefined && seq > progress.position
    window.stored(subject, mustWait ? seq : undefined)
    if (mustWait) {
      if (progress.windows.size === 0) progress.since = this.#options.now()
      progress.windows.add(window)
    }
    this.#onRoom(window)
    this.#pump()
  }

  /** Tenants come and go; a window of one at rest says nothing. */
  #forgetIdle(): void {
    if (this.#tenants.size < 64 || (this.#tenants.size & 63) !== 0) return
    for (const [tenant, window] of this.#tenants) if (window.isIdle) this.#tenants.delete(tenant)
  }
}
