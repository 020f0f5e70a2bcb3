/** How numbers and times are read by people. */

/** A duration: `0.8 ms`, `45 ms`, `1.2 s`, `3 min`; `–` for none. */
export function duration(ms: number | null | undefined): string {
  if (ms === null || ms === undefined || Number.isNaN(ms)) return '–'
  if (ms < 10) return `${trimmed(ms, 1)} ms`
  if (ms < 1_000) return `${Math.round(ms)} ms`
  if (ms < 100_000) return `${trimmed(ms / 1_000, 1)} s`
  if (ms < 6_000_000) return `${Math.round(ms / 60_000)} min`
  if (ms < 172_800_000) return `${Math.round(ms / 3_600_000)} h`
  return `${Math.round(ms / 86_400_000)} d`
}

/** How long ago a time was. */
export function ago(at: number, now: number): string {
  const ms = Math.max(0, now - at)
  return ms < 1_000 ? 'now' : `${duration(ms < 100_000 ? Math.round(ms / 1_000) * 1_000 : ms)} ago`
}

/** Time of day, UTC, with milliseconds; with the date when it is another day's. */
export function clockTime(at: number, now: number): string {
  const text = new Date(at).toISOString()
  const time = text.slice(11, 23)
  return text.slice(0, 10) === new Date(now).toISOString().slice(0, 10) ? time : `${text.slice(0, 10)} ${time}`
}

/** A number with thin spaces between thousands. */
export function count(value: number): string {
  return Math.round(value)
    .toString()
    .replaceAll(/\B(?=(\d{3})+$)/g, '\u2009')
}

/** A time as a field for dates and times takes it, UTC, to the second. */
export function toTimeField(at: number): string {
  return new Date(at).toISOString().slice(0, 19)
}

/** The time that such a field says, UTC; `undefined` for none. */
export function fromTimeField(text: string): number | undefined {
  const at = Date.parse(`${text}Z`)
  return Number.isNaN(at) ? undefined : at
}

/** `namespace/name`, or the name alone. */
export function fullName({ namespace, name }: { namespace: string; name: string }): string {
  return namespace === '' ? name : `${namespace}/${name}`
}

function trimmed(value: number, digits: number): string {
  return value.toFixed(digits).replace(/\.0+$/, '')
}
