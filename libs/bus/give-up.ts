import type { Clock } from '#libs/kernel'
import type { Bus } from './connection.ts'
import { untilConnected, whileConnected } from './while-connected.ts'

/** How long a process that is to stop waits for a server that is away. */
const AWAY_MS = 1_000
/** The same for one that is connected and says nothing: longer, as a busy machine looks like that as well. */
const SILENT_MS = 3_000
const LOOK_EVERY_MS = 100

/**
 * Gives the connection up once the server is away or silent for longer than is worth waiting for: for a process that is
 * to stop, and whose calls would be tried again until they had used up its time. Resolves when the connection is closed.
 */
export async function giveUpWhenAway(bus: Bus, options: { clock: Clock; giveUp: () => Promise<void> }): Promise<void> {
  const { clock, giveUp } = options
  const over = new AbortController()
  void bus.closed.then(() => over.abort())
  const within = (answer: Promise<unknown>, ms: number): Promise<boolean> => {
    const late = clock.sleep(ms, over.signal).then(
      () => false,
      () => true,
    )
    // What breaks off is looked at again.
    return Promise.race([late, answer.then(() => true).catch(() => true)])
  }
  while (!bus.nats.isClosed() && !over.signal.aborted) {
    const isThere = bus.isConnected()
      ? await within(
          whileConnected(bus, () => bus.nats.flush()),
          SILENT_MS,
        )
      : await within(untilConnected(bus, over.signal), AWAY_MS)
    if (!isThere) return await giveUp()
    await clock.sleep(LOOK_EVERY_MS, over.signal).catch(() => undefined)
  }
}
