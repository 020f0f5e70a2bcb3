const RFC3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.(\d+))?(?:Z|[+-]\d\d:\d\d)$/

/** Whether a text is a point in time as the API takes it (RFC 3339). */
export function isTime(text: string): boolean {
  return RFC3339.test(text) && !Number.isNaN(Date.parse(text))
}

/** A point in time in UTC and whole seconds, as `Time` fields are stored; other text is returned as it is. */
export function canonicalTime(text: string): string {
  return isTime(text) ? `${new Date(text).toISOString().slice(0, 19)}Z` : text
}

/** A point in time in UTC with microseconds, as `MicroTime` fields are stored; other text is returned as it is. */
export function canonicalMicroTime(text: string): string {
  if (!isTime(text)) return text
  const fraction = (RFC3339.exec(text)?.[1] ?? '').padEnd(6, '0').slice(0, 6)
  return `${new Date(text).toISOString().slice(0, 19)}.${fraction}Z`
}
