import { type Bus, originOf, readLast } from '#libs/bus'
import { type LogMessage, type LoggedChange, STREAMS, decodeChange } from '#libs/events'
import type { Clock } from '#libs/kernel'
import { whenCopied } from './when-copied.ts'

/** A change with the message it came in. */
export type StoredChange = { change: LoggedChange; message: LogMessage }

/**
 * The last change of every object that matches, as the log has it, including all that was acked before the call, unless
 * STATE was emptied since.
 * @throws CausewayError `StateBehind` when STATE does not get there
 */
export async function readKnown(
  bus: Bus,
  options: { filter: string; clock: Clock; signal: AbortSignal },
): Promise<StoredChange[]> {
  const { filter, clock, signal } = options
  const newest = await newestSeq(bus, filter)
  const { changes } = await whenCopied({ bus, clock, signal }, async () => {
    const read: StoredChange[] = []
    let reached = 0
    for await (const batch of readLast(bus, { stream: STREAMS.state, filterSubjects: [filter], signal })) {
      for (const message of batch) {
        reached = Math.max(reached, originOf(message)?.seq ?? 0)
        read.push({ change: decodeChange(message), message })
      }
    }
    return { changes: read, isComplete: reached >= newest }
  })
  return changes
}

async function newestSeq(bus: Bus, filter: string): Promise<number> {
  const message = await bus.manager.streams.getMessage(STREAMS.changes, { last_by_subj: filter })
  return message?.seq ?? 0
}
