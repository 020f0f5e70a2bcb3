import type { Json } from '#libs/kube-model'
import { LIMITS } from './limits.ts'

/** A value that an expression cannot take or give. The message is a sentence without its subject. */
class ValueError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'ValueError'
  }
}

/**
 * JSON as expressions know it: whole numbers are `int`, others `double`, and mappings have no properties but their keys.
 * @throws ValueError when it is too large
 */
export function toExpressionValue(value: Json): unknown {
  return importValue(value, { left: LIMITS.volume }, 0)
}

/**
 * What an expression yields, as JSON.
 * @throws ValueError when JSON has no such value, or when it is too large
 */
export function toJson(value: unknown): Json {
  return exportValue(value, { left: LIMITS.volume }, 0)
}

type Volume = { left: number }

function importValue(value: Json, volume: Volume, depth: number): unknown {
  spend(volume, depth, typeof value === 'string' ? value.length : 0)
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : value
  if (typeof value === 'string') {
    if (value.length > LIMITS.text) throw new ValueError(`is longer than ${LIMITS.text} characters`)
    return value
  }
  if (typeof value !== 'object' || value === null) return value
  const isList = Array.isArray(value)
  const entries = Object.entries(value)
  if (entries.length > LIMITS.items) throw new ValueError(`has more than ${LIMITS.items} items`)
  if (isList) return value.map((item) => importValue(item, volume, depth + 1))
  return new Map(
    entries.map(([key, item]) => {
      spend(volume, depth, key.length)
      return [key, importValue(item, volume, depth + 1)]
    }),
  )
}

function exportValue(value: unknown, volume: Volume, depth: number): Json {
  spend(volume, depth, typeof value === 'string' ? value.length : 0)
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value
  if (typeof value === 'number') return finite(value)
  if (typeof value === 'bigint') return safe(Number(value))
  if (Array.isArray(value)) return value.map((item) => exportValue(item, volume, depth + 1))
  if (value instanceof Map) return exportEntries([...(value as Map<unknown, unknown>)], volume, depth)
  if (isPlain(value)) return exportEntries(Object.entries(value), volume, depth)
  throw new ValueError('is of a type that JSON does not have')
}

function exportEntries(entries: [unknown, unknown][], volume: Volume, depth: number): Json {
  // Without prototype, as `__proto__` is a key like any other.
  const object = Object.create(null) as Record<string, Json>
  for (const [key, item] of entries) {
    if (typeof key !== 'string') throw new ValueError('has keys that are no text')
    spend(volume, depth, key.length)
    object[key] = exportValue(item, volume, depth + 1)
  }
  return { ...object }
}

function spend(volume: Volume, depth: number, characters: number): void {
  volume.left -= 1 + characters
  if (volume.left < 0) throw new ValueError('is too large')
  if (depth > LIMITS.valueDepth) throw new ValueError('is nested too deep')
}

function finite(value: number): number {
  if (Number.isFinite(value)) return value
  throw new ValueError('is no finite number')
}

function safe(value: number): number {
  if (Number.isSafeInteger(value)) return value
  throw new ValueError('is a whole number beyond 2^53')
}

function isPlain(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype
}
