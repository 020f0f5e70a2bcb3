import { type Bus, originOf, readLast } from '#libs/bus'
import { type LogMessage, type LoggedChange, STREAMS, decodeChange } from '#libs/events'
import { CausewayError, type Clock } from '#libs/kernel'

const PATIENCE_MS = 15_000
/** The server copies within milliseconds. */
const SETTLE_MS = 1_000

/** A change with the message it came in. */
export type StoredChange = { change: LoggedChange; message: LogMessage }

/**
 * The last change of every object that matches, as the log has it, including all that was acked before the call. The
 * server copies into STATE a moment later than it acks, so the newest matching change is waited for, unless STATE was
 * emptied since.
 * @throws CausewayError `StateBehind` when STATE does not get there
 */
export async function readKnown(
  bus: Bus,
  options: { filter: string; clock: Clock; signal: AbortSignal },
): Promise<StoredChange[]> {
  const { filter, clock, signal } = options
  const newest = await newestSeq(bus, filter)
  const deadline = clock.now() + PATIENCE_MS
  const settledBy = clock.now() + SETTLE_MS
  for (;;) {
    const isAllThereIs = clock.now() > settledBy && (await isCaughtUp(bus))
    const changes: StoredChange[] = []
    let reached = 0
    for await (const batch of readLast(bus, { stream: STREAMS.state, filterSubjects: [filter], signal })) {
      for (const message of batch) {
        reached = Math.max(reached, originOf(message)?.seq ?? 0)
        changes.push({ change: decodeChange(message), message })
      }
    }
    if (reached >= newest) return changes
    // What it does not get within a moment although it is not behind has been taken out of it.
    if (isAllThereIs) return changes
    if (clock.now() > deadline) {
      throw new CausewayError(`stream ${STREAMS.state} is behind ${STREAMS.changes}: is the NATS server overloaded?`, {
        code: 'StateBehind',
        retry: 'backoff',
      })
    }
    await clock.sleep(100, signal)
  }
}

async function newestSeq(bus: Bus, filter: string): Promise<number> {
  const message = await bus.manager.streams.getMessage(STREAMS.changes, { last_by_subj: filter })
  return message?.seq ?? 0
}

/** Whether the server says that it has copied all there is. */
async function isCaughtUp(bus: Bus): Promise<boolean> {
  const { sources = [] } = await bus.manager.streams.info(STREAMS.state)
  return sources.some(({ name, lag }) => name === STREAMS.changes && lag === 0)
}
