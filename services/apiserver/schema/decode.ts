import type { Json, JsonObject, KubeObject } from '#libs/kube-model'

import { unknownFields } from '../custom-resources/prune-custom.ts'
import { isObject } from './json-shape.ts'
import { parseQuantity } from './quantity.ts'
import { fieldOf, shortName, structOf, typeNameOf, WELL_KNOWN } from './schema.ts'
import type { FieldSchema, Gvk } from './schema.ts'
import { isTime } from './time.ts'

/** What keeps an object from being read as its kind. */
export type DecodeProblems = {
  /** Paths of fields that the kind does not have, in the order of the document. */
  unknown: string[]
  /** Values of the wrong type: texts of the decoder. The first is the one a server reports. */
  typeErrors: string[]
}

type Place = {
  /** Path with indices, for unknown fields. */
  path: string
  /** Path without indices, as the decoder names fields. */
  fieldPath: string
  /** The structure that holds the field. */
  owner: string
}

/** Compares an object with its kind; nothing is changed. Kinds that are not known have no problems. */
export function decodeProblems(gvk: Gvk, object: KubeObject | JsonObject): DecodeProblems {
  const problems: DecodeProblems = { unknown: [], typeErrors: [] }
  if (gvk.custom !== undefined) {
    const { metadata } = object as JsonObject
    const place = { path: 'metadata', fieldPath: 'metadata', owner: gvk.kind }
    if (metadata !== undefined) readValue({ ref: WELL_KNOWN.objectMeta }, metadata, place, problems)
    problems.unknown.push(...unknownFields(gvk.custom.schema, object as JsonObject))
    return problems
  }
  const typeName = typeNameOf(gvk)
  if (typeName !== undefined) {
    readStruct(typeName, object as JsonObject, { path: '', fieldPath: '', owner: shortName(typeName) }, problems)
  }
  return problems
}

function readStruct(typeName: string, object: JsonObject, place: Place, problems: DecodeProblems): void {
  const owner = shortName(typeName)
  for (const [key, value] of Object.entries(object)) {
    const path = place.path === '' ? key : `${place.path}.${key}`
    const field = fieldOf(typeName, key)
    if (field === undefined) {
      problems.unknown.push(path)
      continue
    }
    const fieldPath = place.fieldPath === '' ? key : `${place.fieldPath}.${key}`
    readValue(field, value, { path, fieldPath, owner }, problems)
  }
}

function readValue(field: FieldSchema, value: Json, place: Place, problems: DecodeProblems): void {
  if (value === null) return
  if (field.ref !== undefined) {
    readRef(field.ref, value, place, problems)
    return
  }
  if (isExpectedType(field, value)) {
    if (Array.isArray(value) && field.items !== undefined) {
      for (const [index, item] of value.entries()) {
        readValue(field.items, item, { ...place, path: `${place.path}[${index}]` }, problems)
      }
    } else if (isObject(value) && field.items !== undefined) {
      for (const [key, item] of Object.entries(value)) {
        readValue(field.items, item, { ...place, path: `${place.path}.${key}` }, problems)
      }
    } else if (field.format === 'byte' && typeof value === 'string') {
      const byte = base64Fault(value)
      if (byte !== undefined) problems.typeErrors.push(`illegal base64 data at input byte ${byte}`)
    }
    return
  }
  problems.typeErrors.push(mismatch(value, place, goType(field)))
}

function readRef(ref: string, value: Json, place: Place, problems: DecodeProblems): void {
  if (ref === WELL_KNOWN.quantity) {
    if ((typeof value !== 'string' && typeof value !== 'number') || parseQuantity(value) === undefined) {
      problems.typeErrors.push(
        "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
      )
    }
  } else if (ref === WELL_KNOWN.time || ref === WELL_KNOWN.microTime) {
    if (typeof value !== 'string') problems.typeErrors.push(mismatch(value, place, 'string'))
    else if (!isTime(value)) {
      problems.typeErrors.push(
        `parsing time ${JSON.stringify(value)} as "2006-01-02T15:04:05Z07:00": cannot parse ${JSON.stringify(value)} as "2006"`,
      )
    }
  } else if (ref === WELL_KNOWN.intOrString) {
    if (typeof value !== 'string' && typeof value !== 'number') {
      problems.typeErrors.push(mismatch(value, place, 'intstr.IntOrString'))
    }
  } else if (structOf(ref) !== undefined) {
    if (isObject(value)) readStruct(ref, value, place, problems)
    else problems.typeErrors.push(mismatch(value, place, goTypeOfRef(ref)))
  }
}

function isExpectedType(field: FieldSchema, value: Json): boolean {
  switch (field.type ?? '') {
    case 'string':
      return typeof value === 'string'
    case 'boolean':
      return typeof value === 'boolean'
    case 'integer':
      return typeof value === 'number' && Number.isInteger(value)
    case 'number':
      return typeof value === 'number'
    case 'array':
      return Array.isArray(value)
    case 'map':
    case 'object':
      return isObject(value)
    default:
      return true
  }
}

function mismatch(value: Json, place: Place, wanted: string): string {
  return `json: cannot unmarshal ${jsonKind(value)} into Go struct field ${place.owner}.${place.fieldPath} of type ${wanted}`
}

function jsonKind(value: Json): string {
  if (Array.isArray(value)) return 'array'
  if (typeof value === 'boolean') return 'bool'
  if (typeof value === 'number') return Number.isInteger(value) ? 'number' : `number ${value}`
  return typeof value
}

function goTypeOfRef(ref: string): string {
  if (ref === WELL_KNOWN.quantity) return 'resource.Quantity'
  const parts = ref.split('.')
  return parts.slice(-2).join('.')
}

/** The name the decoder has for a field's type. */
function goType(field: FieldSchema): string {
  if (field.ref !== undefined) return goTypeOfRef(field.ref)
  switch (field.type ?? '') {
    case 'boolean':
      return 'bool'
    case 'integer':
      return field.format ?? 'int64'
    case 'number':
      return 'float64'
    case 'array':
      return field.format === 'byte' ? '[]uint8' : `[]${field.items === undefined ? 'string' : goType(field.items)}`
    case 'map':
      return `map[string]${field.items === undefined ? 'string' : goType(field.items)}`
    default:
      return field.format === 'byte' ? '[]uint8' : 'string'
  }
}

/** The position of the first character that is no base64; `undefined` when the text is sound. */
export function base64Fault(text: string): number | undefined {
  const fault = /[^A-Za-z0-9+/=\r\n]/.exec(text)
  if (fault !== null) return fault.index
  const body = text.replaceAll(/[\r\n]/g, '')
  const padded = /^[A-Za-z0-9+/]*={0,2}$/.test(body) && body.length % 4 === 0
  if (padded) return undefined
  const padding = body.indexOf('=')
  // An incomplete group of four is reported at its start.
  return padding === -1 ? Math.floor(body.length / 4) * 4 : padding
}
