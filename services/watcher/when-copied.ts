import type { Bus } from '#libs/bus'
import { STREAMS } from '#libs/events'
import { CausewayError, type Clock } from '#libs/kernel'

const PATIENCE_MS = 15_000
/** The server copies within milliseconds. */
const SETTLE_MS = 1_000

/**
 * What STATE says once it has all that was stored in CHANGES before the call: the server copies into STATE a moment
 * later than it acks. Looks again until something is complete; what it is not within a moment, although STATE is not
 * behind, has been taken out of it.
 * @throws CausewayError `StateBehind` when STATE does not get there
 */
export async function whenCopied<T extends { isComplete: boolean }>(
  { bus, clock, signal }: { bus: Bus; clock: Clock; signal: AbortSignal },
  look: () => Promise<T>,
): Promise<T> {
  const deadline = clock.now() + PATIENCE_MS
  const settledBy = clock.now() + SETTLE_MS
  for (;;) {
    const isAllThereIs = clock.now() > settledBy && (await isCaughtUp(bus))
    const seen = await look()
    if (seen.isComplete || isAllThereIs) return seen
    if (clock.now() > deadline) {
      throw new CausewayError(`stream ${STREAMS.state} is behind ${STREAMS.changes}: is the NATS server overloaded?`, {
        code: 'StateBehind',
        retry: 'backoff',
      })
    }
    await clock.sleep(100, signal)
  }
}

/** Whether the server says that it has copied all there is. */
async function isCaughtUp(bus: Bus): Promise<boolean> {
  const { sources = [] } = await bus.manager.streams.info(STREAMS.state)
  return sources.some(({ name, lag }) => name === STREAMS.changes && lag === 0)
}
