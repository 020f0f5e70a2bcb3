import { backoffDelay, createDelayedKeys } from '#libs/kernel'
import type { Clock } from '#libs/kernel'

export type KeyedWorkersOptions = {
  /** Works on a key; returns the milliseconds after which to look again, or nothing. Throwing means a retry. */
  work: (key: string) => Promise<number | undefined>
  /** Keys that are worked on at once. */
  concurrency: number
  clock: Clock
  random: () => number
  /** Called for every failure, before the retry. */
  onError: (key: string, error: unknown) => void
}

/** Works on keys: each alone and once at a time, several side by side. */
export type KeyedWorkers = {
  /** Wakes a key; one that waits already is not added twice, one in work runs again afterwards. */
  add(key: string, delayMs?: number): void
  /** Takes no more keys and resolves when those in work are done. */
  close(): Promise<void>
}

const RETRY = { baseMs: 50, capMs: 10_000 }

/** Creates the workers; nothing runs until a key is added. */
export function createKeyedWorkers(options: KeyedWorkersOptions): KeyedWorkers {
  const { clock, random } = options
  const waiting = new Set<string>()
  const delayed = createDelayedKeys(clock, add)
  const inWork = new Map<string, Promise<void>>()
  const again = new Set<string>()
  const failures = new Map<string, number>()
  let isClosed = false

  function fill(): void {
    for (const key of waiting) {
      if (inWork.size >= options.concurrency || isClosed) return
      waiting.delete(key)
      inWork.set(
        key,
        run(key).finally(() => {
          inWork.delete(key)
          if (again.delete(key)) add(key)
          fill()
        }),
      )
    }
  }

  async function run(key: string): Promise<void> {
    try {
      const againMs = await options.work(key)
      failures.delete(key)
      if (againMs !== undefined) add(key, Math.max(1, againMs))
    } catch (error) {
      const attempt = failures.get(key) ?? 0
      failures.set(key, attempt + 1)
      options.onError(key, error)
      add(key, 1 + backoffDelay(RETRY, attempt, random))
    }
  }

  function add(key: string, delayMs = 0): void {
    if (isClosed || waiting.has(key)) return
    if (delayMs > 0) {
      delayed.add(key, delayMs)
    } else if (inWork.has(key)) {
      again.add(key)
    } else {
      waiting.add(key)
      fill()
    }
  }

  return {
    add,
    close: async () => {
      isClosed = true
      waiting.clear()
      delayed.clear()
      await Promise.all(inWork.values())
    },
  }
}
