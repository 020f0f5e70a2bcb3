import { type Bus, originOf, readLast } from '#libs/bus'
import { type LogMessage, STREAMS, type StreamName, partitionFilters } from '#libs/events'
import type { Clock, Pacer } from '#libs/kernel'
import type { Projection } from '#libs/projection'
import type { Logger } from '#libs/telemetry'

/** The projection's position is older than the log: it must be filled from STATE. */
export class ProjectionOutdated extends Error {}

/**
 * Makes sure that a projection is of the log that there is.
 * @throws ProjectionOutdated when what was folded in came from a log that is no more, however long the new one is
 */
export async function requireSameLog(of: {
  bus: Bus
  projection: Projection
  partition: number
  logger: Logger
}): Promise<void> {
  const { bus, projection, partition, logger } = of
  const { created } = await bus.manager.streams.info(STREAMS.changes)
  if (projection.log === created) return
  if (!projection.fresh && projection.log !== undefined) {
    logger.error({ partition, kind: 'another' }, 'the log was truncated; the projection is built again')
    throw new ProjectionOutdated(`${STREAMS.changes} is another stream than before`)
  }
  projection.setLog(created)
}

type Source = {
  bus: Bus
  partition: number
  signal: AbortSignal
  pacer: Pacer
  fold: (stream: StreamName, message: LogMessage) => void
}

/** Fills an empty projection from STATE, see {@link fillProjection}, and says how long that took. */
export async function fillFromState(
  of: Source & { projection: Projection; logger: Logger; clock: Pick<Clock, 'now'> },
): Promise<void> {
  const { projection, partition, logger, clock } = of
  const startedAt = clock.now()
  const messages = await fillProjection(projection, of)
  logger.info({ partition, messages, durMs: clock.now() - startedAt }, 'projection filled')
}

/**
 * Fills an empty projection from STATE and takes over the positions that it stands for: the log goes on from there.
 * @param fold takes one message in, under its sequence in the stream that it came from
 * @returns how many messages there were
 */
async function fillProjection(
  projection: Projection,
  { bus, partition, signal, pacer, fold }: Source,
): Promise<number> {
  const filterSubjects = [...partitionFilters('change', partition), ...partitionFilters('outcome', partition)]
  const reached = new Map<string, number>()
  let messages = 0
  for await (const batch of readLast(bus, { stream: STREAMS.state, filterSubjects, signal })) {
    for (const message of batch) {
      const origin = originOf(message)
      const stream = [STREAMS.changes, STREAMS.outcomes].find((name) => name === origin?.stream)
      if (origin === undefined || stream === undefined) continue
      reached.set(stream, Math.max(reached.get(stream) ?? 0, origin.seq))
      fold(stream, { ...message, seq: origin.seq })
      messages++
      const pause = pacer.pause()
      if (pause !== undefined) await pause
    }
  }
  for (const stream of [STREAMS.changes, STREAMS.outcomes]) projection.setPosition(stream, reached.get(stream) ?? 0)
  projection.markFilled()
  projection.commit()
  return messages
}
