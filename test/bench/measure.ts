import { setTimeout as sleep } from 'node:timers/promises'
import type { Bus } from '#libs/bus'
import type { LoggedOutcome } from '#libs/events'
import type { Installation } from './installation.ts'
import { type LogEnd, logEnd, outcomesBetween } from './outcomes.ts'
import { type Usage, readUsage, resetPeaks, usageBetween } from './processes.ts'

/** What a run has cost, and what it has left in the log. */
export type Cost = { usage: Map<string, Usage>; messages: LogEnd; outcomes: LoggedOutcome[] }

const SETTLE_MS = 50
const SETTLE_ATTEMPTS = 40

/** Runs something and accounts for it. */
export async function measured<T>(
  installation: Installation,
  run: () => Promise<T>,
): Promise<{ value: T; cost: Cost }> {
  const { bus, pids } = installation
  resetPeaks(pids)
  const from = await logEnd(bus)
  const before = readUsage(pids)
  const value = await run()
  const usage = usageBetween(before, readUsage(pids))
  const to = await settledEnd(bus)
  const messages = {
    changes: to.changes - from.changes,
    intents: to.intents - from.intents,
    outcomes: to.outcomes - from.outcomes,
  }
  return { value, cost: { usage, messages, outcomes: await outcomesBetween(bus, from, to) } }
}

/** A tenant may see a write before its outcome is in the log. */
async function settledEnd(bus: Bus): Promise<LogEnd> {
  let end = await logEnd(bus)
  for (let attempt = 0; attempt < SETTLE_ATTEMPTS; attempt++) {
    await sleep(SETTLE_MS)
    const later = await logEnd(bus)
    if (later.outcomes === end.outcomes) break
    end = later
  }
  return end
}
