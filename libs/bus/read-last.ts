import type { LogMessage } from '#libs/events'
import type { Bus } from './connection.ts'
import { ConsumerSession } from './consumer-session.ts'
import { BusError } from './errors.ts'

export type ReadLastOptions = {
  stream: string
  /** Subjects to read; the whole stream when empty. */
  filterSubjects?: readonly string[]
  signal?: AbortSignal
  /** How many messages are held ready at most. @default 1000 */
  capacity?: number
}

/**
 * Reads the last message of each subject as of the time of the call, in the stream's order and in batches, and ends.
 * @throws BusError `NatsUnreachable` when it is interrupted: begin again, since what was read may be outdated
 */
export async function* readLast(bus: Bus, options: ReadLastOptions): AsyncGenerator<LogMessage[], void, void> {
  const { stream, filterSubjects = [], signal, capacity = 1_000 } = options
  const { config } = await bus.manager.streams.info(stream)
  // Where the stream itself keeps one message per subject, all of it is the same and needs no search by the server.
  const start = config.max_msgs_per_subject === 1 ? { seq: 1 } : 'lastPerSubject'
  const session = await ConsumerSession.open(bus, { stream, filterSubjects, start, capacity })
  const stop = (): void => session.close()
  signal?.addEventListener('abort', stop)
  try {
    while (session.pending > 0) {
      signal?.throwIfAborted()
      const batch = session.take()
      if (batch.length > 0) yield batch
      else if (session.ended === undefined) await session.wait()
      else throw interrupted(stream, session.ended)
    }
  } finally {
    signal?.removeEventListener('abort', stop)
    session.close()
  }
}

function interrupted(stream: string, why: string): BusError {
  return new BusError(`reading the last messages of ${stream} was interrupted (${why}): try again`, {
    code: 'NatsUnreachable',
    retry: 'backoff',
  })
}
