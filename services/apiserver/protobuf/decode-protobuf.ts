import type { Json, JsonObject } from '#libs/kube-model'
import { canonicalMicroTime, canonicalTime } from '../schema/time.ts'
import { fieldOf, structOf, typeNameOf } from '../schema/schema.ts'
import type { FieldSchema } from '../schema/schema.ts'
import table from '../data/protobuf.json' with { type: 'json' }
import { WireError, readFields } from './wire.ts'

/**
 * Field numbers of the API's messages. A name that begins with `+` is a message of its own on the wire whose fields
 * are, in JSON, fields of the type around it.
 */
type Numbers = { [field: string]: number | [number, Numbers] }

type Member = { name: string; inline: Map<number, Member> | undefined }

const MAGIC = Buffer.from('k8s\0')
const META = 'io.k8s.apimachinery.pkg.apis.meta.v1'

const MAX_DEPTH = 64

/**
 * Reads an object in the API's binary encoding: an envelope with the type, and the message of that type. Only objects
 * that clients send are read so; answers are JSON.
 * @throws WireError when the bytes are not such an object
 */
export function decodeProtobuf(bytes: Uint8Array): JsonObject {
  if (!MAGIC.equals(bytes.subarray(0, MAGIC.length))) {
    throw new WireError('provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]')
  }
  let raw: Uint8Array = new Uint8Array()
  const type = { apiVersion: '', kind: '' }
  for (const { number, value } of readFields(bytes.subarray(MAGIC.length))) {
    if (typeof value === 'bigint') continue
    if (number === 2) raw = value
    if (number !== 1) continue
    for (const part of readFields(value)) {
      if (part.number === 1) type.apiVersion = textOf(part.value)
      if (part.number === 2) type.kind = textOf(part.value)
    }
  }
  const [first = '', second] = type.apiVersion.split('/')
  const [group, version] = second === undefined ? ['', first] : [first, second]
  const typeName =
    type.kind === 'DeleteOptions' ? `${META}.DeleteOptions` : typeNameOf({ group, version, kind: type.kind })
  if (typeName === undefined)
    throw new WireError(`no kind "${type.kind}" is registered for version "${type.apiVersion}"`)
  const { apiVersion, kind } = type
  return { apiVersion, kind, ...readMessage(typeName, raw, 0) }
}

function readMessage(typeName: string, bytes: Uint8Array, depth: number): JsonObject {
  const result: JsonObject = {}
  readInto(result, { typeName, members: membersOf(typeName), depth }, bytes)
  return result
}

function readInto(
  result: JsonObject,
  place: { typeName: string; members: Map<number, Member>; depth: number },
  bytes: Uint8Array,
): void {
  if (place.depth > MAX_DEPTH) throw new WireError('nesting is too deep')
  for (const { number, value } of readFields(bytes)) {
    const member = place.members.get(number)
    if (member === undefined) continue
    if (member.inline !== undefined) {
      readInto(result, { ...place, members: member.inline, depth: place.depth + 1 }, bytesOf(value))
      continue
    }
    const field = fieldOf(place.typeName, member.name)
    if (field !== undefined) addValue(result, member.name, { field, value, depth: place.depth + 1 })
  }
}

type Occurrence = { field: FieldSchema; value: bigint | Uint8Array; depth: number }

function addValue(result: JsonObject, name: string, { field, value, depth }: Occurrence): void {
  if (field.type === 'array') {
    const list = (result[name] ??= []) as Json[]
    const item = field.items === undefined ? undefined : readValue(field.items, value, depth)
    if (item !== undefined) list.push(item)
  } else if (field.type === 'map') {
    const map = (result[name] ??= {}) as JsonObject
    let key = ''
    let item: Json | undefined
    for (const part of readFields(bytesOf(value))) {
      if (part.number === 1) key = textOf(part.value)
      else if (field.items !== undefined) item = readValue(field.items, part.value, depth)
    }
    map[key] = item ?? ''
  } else {
    const read = readValue(field, value, depth)
    if (read !== undefined) result[name] = read
  }
}

function readValue(field: FieldSchema, value: bigint | Uint8Array, depth: number): Json | undefined {
  if (field.ref !== undefined) return readRef(field.ref, value, depth)
  switch (field.type ?? 'string') {
    case 'boolean':
      return value !== 0n
    case 'integer':
      return typeof value === 'bigint' ? Number(BigInt.asIntN(64, value)) : undefined
    case 'number':
      return value instanceof Uint8Array ? new DataView(value.buffer, value.byteOffset).getFloat64(0, true) : undefined
    case 'array':
      return field.items === undefined ? undefined : readWrappedList(field.items, value, depth)
    default:
      return field.format === 'byte' ? Buffer.from(bytesOf(value)).toString('base64') : textOf(value)
  }
}

/** A list inside a map is a message with one repeated field. */
function readWrappedList(items: FieldSchema, value: bigint | Uint8Array, depth: number): Json[] {
  const list: Json[] = []
  for (const part of readFields(bytesOf(value))) {
    const item = readValue(items, part.value, depth)
    if (item !== undefined) list.push(item)
  }
  return list
}

function readRef(ref: string, value: bigint | Uint8Array, depth: number): Json | undefined {
  if (structOf(ref) !== undefined) return readMessage(ref, bytesOf(value), depth)
  const parts = new Map([...readFields(bytesOf(value))].map((part) => [part.number, part.value]))
  const text = (number: number): string => textOf(parts.get(number) ?? new Uint8Array())
  const whole = (number: number): number => Number(BigInt.asIntN(64, BigInt((parts.get(number) as bigint) ?? 0n)))
  switch (ref.slice(ref.lastIndexOf('.') + 1)) {
    case 'Quantity':
      return text(1)
    case 'IntOrString':
      return whole(1) === 0 ? whole(2) : text(3)
    case 'Time':
      return parts.size === 0 || whole(1) === 0 ? undefined : canonicalTime(new Date(whole(1) * 1000).toISOString())
    case 'MicroTime': {
      if (parts.size === 0 || whole(1) === 0) return undefined
      const micros = String(Math.floor(whole(2) / 1000)).padStart(6, '0')
      return canonicalMicroTime(new Date(whole(1) * 1000).toISOString().replace('.000Z', `.${micros}Z`))
    }
    case 'FieldsV1':
    case 'RawExtension':
      return parts.has(1) ? (JSON.parse(text(1)) as Json) : undefined
    default:
      return undefined
  }
}

const members = new Map<string, Map<number, Member>>()

function membersOf(typeName: string): Map<number, Member> {
  const known = members.get(typeName)
  if (known !== undefined) return known
  const made = byNumber((table as unknown as Record<string, Numbers>)[typeName] ?? {})
  members.set(typeName, made)
  return made
}

function byNumber(numbers: Numbers): Map<number, Member> {
  return new Map(
    Object.entries(numbers).map(([name, entry]): [number, Member] =>
      typeof entry === 'number'
        ? [entry, { name, inline: undefined }]
        : [entry[0], { name, inline: byNumber(entry[1]) }],
    ),
  )
}

function bytesOf(value: bigint | Uint8Array): Uint8Array {
  if (value instanceof Uint8Array) return value
  throw new WireError('proto: wrong wireType')
}

const textOf = (value: bigint | Uint8Array): string => Buffer.from(bytesOf(value)).toString()
