/** Numbers that look random and follow from a seed alone. */
export type Random = {
  /** From 0, to below 1. */
  next(): number
  /** A whole number from `from` to `to`, both included. */
  whole(from: number, to: number): number
  chance(probability: number): boolean
  /** @throws Error when the list is empty */
  pick<T>(list: readonly T[]): T
  shuffled<T>(list: readonly T[]): T[]
  /** Another source that follows from this seed and the label, and takes nothing from this one. */
  fork(label: string): Random
}

/** Mulberry32: small, and good enough to choose what to break. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const whole = (from: number, to: number): number => from + Math.floor(next() * (to - from + 1))
  const pick = <T>(list: readonly T[]): T => {
    if (list.length === 0) throw new Error('nothing to pick from')
    return list[whole(0, list.length - 1)] as T
  }
  return {
    next,
    whole,
    pick,
    chance: (probability) => next() < probability,
    shuffled: (list) => {
      const rest = [...list]
      return Array.from({ length: rest.length }, () => rest.splice(whole(0, rest.length - 1), 1)[0] as never)
    },
    fork: (label) => createRandom(hash(`${seed}/${label}`)),
  }
}

/** FNV-1a, 32 bit. */
function hash(text: string): number {
  let value = 0x811c9dc5
  for (const byte of Buffer.from(text)) value = Math.imul(value ^ byte, 0x01000193)
  return value >>> 0
}
