import { type Bus, originOf, readLast } from '#libs/bus'
import { type LogMessage, STREAMS, type StreamName, partitionFilters } from '#libs/events'
import type { Pacer } from '#libs/kernel'
import type { Projection } from '#libs/projection'

/**
 * Fills an empty projection from STATE and takes over the positions that it stands for: the log goes on from there.
 * @param fold takes one message in, under its sequence in the stream that it came from
 * @returns how many messages there were
 */
export async function fillProjection(
  projection: Projection,
  source: {
    bus: Bus
    partition: number
    signal: AbortSignal
    pacer: Pacer
    fold: (stream: StreamName, message: LogMessage) => void
  },
): Promise<number> {
  const { bus, partition, signal, pacer, fold } = source
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
