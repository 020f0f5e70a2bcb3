import { AckPolicy, DeliverPolicy } from '@nats-io/jetstream'
import { nuid } from '@nats-io/nats-core'
import type { Bus } from './connection.ts'
import { whileConnected } from './while-connected.ts'

const NANOS_PER_MS = 1_000_000

/**
 * The first sequence of a stream that was stored at a time or later, for readers that begin there; one past the end
 * where there is none. Costs two requests, whatever the stream holds.
 * @param since ms since the epoch
 * @throws what the client throws: no such stream, no answer in time
 */
export async function sequenceSince(bus: Bus, stream: string, since: number): Promise<number> {
  const name = `since-${nuid.next()}`
  const { consumers } = bus.manager
  const info = await whileConnected(bus, () =>
    consumers.add(stream, {
      name,
      ack_policy: AckPolicy.None,
      deliver_policy: DeliverPolicy.StartTime,
      opt_start_time: new Date(since).toISOString(),
      inactive_threshold: 5_000 * NANOS_PER_MS,
      mem_storage: true,
      num_replicas: 1,
    }),
  )
  // The server would forget it by itself after some seconds.
  void consumers.delete(stream, name).catch(() => undefined)
  return info.delivered.stream_seq + 1
}
