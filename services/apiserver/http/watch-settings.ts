export type WatchSettings = {
  /** Between bookmarks of an idle watch, in milliseconds. */
  bookmarkIntervalMs: number
  /** A watch without `timeoutSeconds` ends after this time and up to once more it. */
  minTimeoutMs: number
  /** Events that wait for a slow client before it is cut off. */
  maxQueuedEvents: number
  /** Ends all watches when the server stops. */
  signal: AbortSignal
}

export const WATCH_DEFAULTS = { bookmarkIntervalMs: 60_000, minTimeoutMs: 1_800_000, maxQueuedEvents: 20_000 } as const
