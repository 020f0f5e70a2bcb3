/** Time of day with milliseconds, UTC; with its date when that is not today's. */
export function clockTime(at: number, now: number = Date.now()): string {
  const text = new Date(at).toISOString()
  return text.slice(0, 10) === new Date(now).toISOString().slice(0, 10) ? text.slice(11) : text
}

/** A duration for people. */
export function milliseconds(ms: number): string {
  return ms < 10_000 ? `${ms.toFixed(1)} ms` : `${(ms / 1_000).toFixed(1)} s`
}
