/**
 * What an expression may cost. All are far above what a change of a field needs, and small enough that the most costly
 * expression within them holds nobody up: some tens of milliseconds, some megabytes.
 */
export const LIMITS = {
  /** Characters of an expression. */
  source: 2_048,
  /** Parts of an expression: names, values, operators, calls. */
  nodes: 256,
  /** How deep they are nested. */
  depth: 32,
  /** Arguments of a call. */
  arguments: 8,
  /** Characters of any text, on the way or as the result. */
  text: 32_768,
  /** Items of any list or map. */
  items: 1_024,
  /** Nesting of the value that goes in or comes out. */
  valueDepth: 32,
  /** Values and characters that go in or come out, all together. */
  volume: 65_536,
  /** Steps of one computation: a step for each part computed, and one for each 64 characters or items that it yields. */
  steps: 20_000,
} as const
