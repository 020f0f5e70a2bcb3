import type { Bus } from './connection.ts'

/** Where a stream ends now; Infinity when that cannot be asked just now. */
export async function lastSequence(bus: Bus, stream: string): Promise<number> {
  try {
    return (await bus.manager.streams.info(stream)).state.last_seq
  } catch {
    return Number.POSITIVE_INFINITY
  }
}
