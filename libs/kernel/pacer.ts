/** Keeps long work from holding up everything else in the process. */
export type Pacer = {
  /**
   * To be asked between two steps of work that may go on and on without ever waiting for something.
   * @returns what to await where the turn has been long enough: timers and connections have theirs meanwhile
   */
  pause(): Promise<void> | undefined
}

/** How long work goes on at once. Leases are renewed, and probes answered, in between. */
const TURN_MS = 25

/** Creates a pacer for all work of a kind in this process: they share their turns. */
export function createPacer(turnMs = TURN_MS): Pacer {
  let begunAt: number | undefined
  let next: Promise<void> | undefined
  const begin = (): void => {
    begunAt = undefined
    next = undefined
  }
  return {
    pause: () => {
      if (next !== undefined) return next
      const now = performance.now()
      if (begunAt === undefined) {
        begunAt = now
        // Ends with the event loop's turn by itself where the work waits for something before its time is over.
        setImmediate(begin)
      } else if (now - begunAt >= turnMs) {
        next = new Promise((resolve) => {
          setImmediate(() => {
            begin()
            resolve()
          })
        })
      }
      return next
    },
  }
}
