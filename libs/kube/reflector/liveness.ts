import type { Clock } from '#libs/kernel'
import { KubeConnectionError } from '../errors.ts'
import { IDLE } from './failure.ts'

export type LivenessOptions = {
  clock: Clock
  /** Where the watch goes, for messages. */
  source: string
  /** No byte for this long means that the connection is dead: servers send bookmarks about once a minute. */
  idleMs: number
  /** No watch is longer, however lively: the server was asked to end it before. */
  deadlineMs: number
}

/** Supervises one watch. Its signal aborts when the watch is dead, when the parent aborts, or on `stop`. */
export type Liveness = {
  signal: AbortSignal
  /** Passes chunks through and times the wait for each; the consumer's own time does not count. */
  track(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void, void>
  /** Why the watch was given up; undefined while it was not. */
  verdict(): KubeConnectionError | undefined
  stop(): void
}

export function superviseWatch(parent: AbortSignal, options: LivenessOptions): Liveness {
  const { clock } = options
  const controller = new AbortController()
  const onParentAbort = (): void => controller.abort(parent.reason)
  if (parent.aborted) onParentAbort()
  else parent.addEventListener('abort', onParentAbort, { once: true })
  const deadlineAt = clock.now() + options.deadlineMs
  let waitingSince: number | undefined
  let verdict: KubeConnectionError | undefined

  const giveUp = (what: string): void => {
    verdict = new KubeConnectionError(`watch of ${options.source}: ${what}`, { server: options.source, reason: IDLE })
    controller.abort(verdict)
  }
  const supervise = async (): Promise<void> => {
    while (!controller.signal.aborted) {
      const now = clock.now()
      const idleLeft = waitingSince === undefined ? options.idleMs : waitingSince + options.idleMs - now
      if (idleLeft <= 0) return giveUp(`nothing came for ${options.idleMs} ms`)
      if (deadlineAt <= now) return giveUp(`it outlived its ${options.deadlineMs} ms`)
      await clock.sleep(Math.min(idleLeft, deadlineAt - now), controller.signal)
    }
  }
  // Rejects only when the signal aborts, which is how it ends.
  supervise().catch(() => undefined)

  return {
    signal: controller.signal,
    track: async function* (chunks) {
      waitingSince = clock.now()
      for await (const chunk of chunks) {
        waitingSince = undefined
        yield chunk
        waitingSince = clock.now()
      }
      waitingSince = undefined
    },
    verdict: () => verdict,
    stop: () => {
      parent.removeEventListener('abort', onParentAbort)
      controller.abort(new Error('watch is over'))
    },
  }
}
