const MINUTE = 60
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const YEAR = 365 * DAY

/** The time from a timestamp to `nowMs` as people read it (`5s`, `3m10s`, `26h`, `4d`); `<unknown>` without one. */
export function ageOf(timestamp: unknown, nowMs: number): string {
  if (typeof timestamp !== 'string') return '<unknown>'
  const then = Date.parse(timestamp)
  return Number.isNaN(then) ? '<unknown>' : humanDuration((nowMs - then) / 1000)
}

/** A duration in seconds with at most two units, the less exact the longer it is. */
export function humanDuration(exactSeconds: number): string {
  const seconds = Math.floor(exactSeconds)
  if (seconds < -1) return '<invalid>'
  if (seconds < 0) return '0s'
  if (seconds < 2 * MINUTE) return `${seconds}s`
  if (seconds < 10 * MINUTE) return pair(seconds, { unit: MINUTE, name: 'm', part: 1, partName: 's' })
  if (seconds < 3 * HOUR) return `${Math.floor(seconds / MINUTE)}m`
  if (seconds < 8 * HOUR) return pair(seconds, { unit: HOUR, name: 'h', part: MINUTE, partName: 'm' })
  if (seconds < 2 * DAY) return `${Math.floor(seconds / HOUR)}h`
  if (seconds < 8 * DAY) return pair(seconds, { unit: DAY, name: 'd', part: HOUR, partName: 'h' })
  if (seconds < 2 * YEAR) return `${Math.floor(seconds / DAY)}d`
  if (seconds < 8 * YEAR) return pair(seconds, { unit: YEAR, name: 'y', part: DAY, partName: 'd' })
  return `${Math.floor(seconds / YEAR)}y`
}

function pair(seconds: number, units: { unit: number; name: string; part: number; partName: string }): string {
  const rest = Math.floor((seconds % units.unit) / units.part)
  const whole = `${Math.floor(seconds / units.unit)}${units.name}`
  return rest === 0 ? whole : `${whole}${rest}${units.partName}`
}
