/** Freezes a JSON value through and through, so that a test fails where it is changed. */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value
  for (const field of Object.values(value)) deepFreeze(field)
  return Object.freeze(value)
}
