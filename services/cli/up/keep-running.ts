import { type Clock, backoffDelay, errorMessage } from '#libs/kernel'

export type KeepRunningOptions<T> = {
  name: string
  clock: Clock
  /** Starts it; resolves when it runs. */
  start: () => Promise<T>
  /** Resolves with how it ended, once it has. */
  exited: (running: T) => Promise<string>
  /** Ends it; nothing happens when it has ended already. */
  stop: (running: T) => Promise<void>
  /** Told of every end that was not asked for, of failed starts and of each restart. */
  onRestart: (what: string) => void
}

/** Something that is started again when it ends. */
export type Kept<T> = {
  readonly current: T
  /** Ends it for good; resolves when nothing of it runs any more. */
  stop(): Promise<void>
}

const RESTART = { baseMs: 100, capMs: 5_000 }
/** What ends sooner than this was not well: it is started again later each time. */
const HEALTHY_MS = 10_000

/**
 * Starts something, and again whenever it ends.
 * @throws what the first start throws
 */
export async function keepRunning<T>(options: KeepRunningOptions<T>): Promise<Kept<T>> {
  const { name, clock, start, exited, stop, onRestart } = options
  const stopping = new AbortController()
  const { signal } = stopping
  let current = await start()
  const startAgain = async (failures: number): Promise<boolean> => {
    await clock
      .sleep(
        backoffDelay(RESTART, failures, () => 1),
        signal,
      )
      .catch(() => undefined)
    if (signal.aborted) return false
    try {
      current = await start()
    } catch (error) {
      if (!signal.aborted) onRestart(`${name} could not be started: ${errorMessage(error)}`)
      return false
    }
    // Asked to stop while it started: nobody else knows of it.
    if (signal.aborted) await stop(current)
    else onRestart(`${name} runs again`)
    return true
  }
  const supervise = async (): Promise<void> => {
    for (let failures = 0; !signal.aborted;) {
      const startedAt = clock.now()
      const how = await exited(current)
      if (signal.aborted) return
      if (clock.now() - startedAt >= HEALTHY_MS) failures = 0
      onRestart(`${name} ended (${how}); starting it again`)
      while (!(await startAgain(failures++)) && !signal.aborted);
    }
  }
  const supervision = supervise()
  return {
    get current() {
      return current
    },
    stop: async () => {
      stopping.abort(new Error('stopping'))
      await stop(current)
      await supervision
    },
  }
}
