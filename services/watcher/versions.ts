/**
 * Whether a resourceVersion is another one or comes after it. They are numbers on every API server that is known; where
 * one is not, nothing can be told, and it counts as later.
 */
export function isAtLeast(version: string, other: string): boolean {
  return !isNumber(version) || !isNumber(other) || BigInt(version) >= BigInt(other)
}

function isNumber(version: string): boolean {
  return /^\d+$/.test(version)
}
