import type { Clock } from './clock.ts'

/** Keys that are due later. */
export type DelayedKeys = {
  /** Makes a key due after so many milliseconds. Of several times for one key the earliest counts. */
  add(key: string, delayMs: number): void
  /** Forgets all keys. */
  clear(): void
}

/** Calls back for each key when it is due, once. */
export function createDelayedKeys(clock: Clock, onDue: (key: string) => void): DelayedKeys {
  const delayed = new Map<string, { dueMs: number; cancel: AbortController }>()
  return {
    add: (key, delayMs) => {
      const dueMs = clock.now() + delayMs
      const earlier = delayed.get(key)
      if (earlier !== undefined && earlier.dueMs <= dueMs) return
      earlier?.cancel.abort()
      const entry = { dueMs, cancel: new AbortController() }
      delayed.set(key, entry)
      clock.sleep(delayMs, entry.cancel.signal).then(
        () => {
          if (delayed.get(key) !== entry) return
          delayed.delete(key)
          onDue(key)
        },
        () => {
          // Replaced by an earlier time, or forgotten.
        },
      )
    },
    clear: () => {
      for (const { cancel } of delayed.values()) cancel.abort()
      delayed.clear()
    },
  }
}
