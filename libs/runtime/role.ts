/** A running part of the pipeline. Several can share one process. */
export type Role = {
  name: string
  /** What keeps it from being ready, in words; empty when it is ready. */
  notReady(): string[]
  /** Settles when the role has ended: resolves after `close`, rejects when it failed. */
  done: Promise<void>
  /** Stops intake, finishes what is in flight, stores positions, frees what it holds. */
  close(): Promise<void>
}
