import type { Json, JsonObject, KubeObject } from '#libs/kube-model'
import { asName, asObject } from '../json.ts'
import { readDefinition, servedVersions } from './definition.ts'

/** Which way objects cross, and the version that the configuration names. */
export type Crossing = { toHost: boolean; fromHost: boolean; version?: string | undefined }

/**
 * Why objects cannot cross whole between a tenant whose definition is its own and the host, as a sentence; `undefined`
 * when they can. Told is what would be lost on the way or always refused; limits on values are not compared.
 */
export function definitionDifference(tenant: KubeObject, host: KubeObject, crossing: Crossing): string | undefined {
  const [own, other] = [readDefinition(tenant), readDefinition(host)]
  if (own.kind !== other.kind) return `its kind is ${own.kind} here and ${other.kind} on the host`
  if (own.namespaced !== other.namespaced) {
    return `its scope is ${scopeOf(own)} here and ${scopeOf(other)} on the host`
  }
  const shared = own.versions.filter(({ name }) => other.versions.some((each) => each.name === name))
  const version = (shared.find(({ name }) => name === crossing.version) ?? shared[0])?.name
  if (version === undefined) return `it serves ${versionsOf(own)} here and ${versionsOf(other)} on the host`
  const [here, there] = [schemaOf(tenant, version), schemaOf(host, version)]
  const lost =
    (crossing.toHost ? loss(fieldsOf(here, 'spec'), there, ON_HOST) : undefined) ??
    (crossing.toHost ? loss(fieldsOf(there, 'status'), here, HERE) : undefined) ??
    (crossing.fromHost ? loss(fieldsOf(there, 'all'), here, HERE) : undefined)
  return lost === undefined ? undefined : `in version ${version} ${lost}`
}

function scopeOf({ namespaced }: { namespaced: boolean }): string {
  return namespaced ? 'Namespaced' : 'Cluster'
}

function versionsOf({ versions }: { versions: { name: string }[] }): string {
  return versions.map(({ name }) => name).join(', ') || 'no version'
}

function schemaOf(definition: KubeObject, version: string): JsonObject | undefined {
  const found = servedVersions(definition).find(({ name }) => name === version)
  const schema = asObject(asObject(found?.schema)?.openAPIV3Schema)
  return schema?.type === undefined ? undefined : schema
}

/** The part of a schema that crosses: all but what every object has, and but for the status or nothing else. */
function fieldsOf(schema: JsonObject | undefined, part: 'spec' | 'status' | 'all'): JsonObject | undefined {
  if (schema === undefined) return undefined
  const crosses = (name: string): boolean =>
    !EVERY_OBJECT.has(name) && (part === 'all' || (name === 'status') === (part === 'status'))
  const properties = Object.entries(asObject(schema.properties) ?? {}).filter(([name]) => crosses(name))
  return { ...schema, properties: Object.fromEntries(properties) as JsonObject }
}

const EVERY_OBJECT: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata'])
const ANY_FIELD = 'x-kubernetes-preserve-unknown-fields'

/** How the side is called that takes in what the other has. */
type Words = { where: string; has: string }
const ON_HOST: Words = { where: 'on the host', has: 'the host’s has' }
const HERE: Words = { where: 'here', has: 'this cluster’s has' }

/** What the API of the one schema lets be and that of the other one takes away or refuses. */
function loss(from: Json | undefined, to: Json | undefined, words: Words, path = ''): string | undefined {
  const [given, taken] = [asObject(from), asObject(to)]
  if (given === undefined || taken === undefined) return undefined
  const [type, other] = [asName(given.type), asName(taken.type)]
  const isWider = type === 'integer' && other === 'number'
  if (type !== undefined && other !== undefined && type !== other && !isWider) {
    return `${path} is not ${type} but ${other} ${words.where}`
  }
  return fieldLoss(given, taken, words, path) ?? loss(given.items, taken.items, words, `${path}[]`)
}

function fieldLoss(given: JsonObject, taken: JsonObject, words: Words, path: string): string | undefined {
  const properties = asObject(taken.properties) ?? {}
  const takesAny = taken[ANY_FIELD] === true
  const others = taken.additionalProperties
  for (const [name, schema] of Object.entries(asObject(given.properties) ?? {})) {
    const at = path === '' ? name : `${path}.${name}`
    const target = Object.hasOwn(properties, name) ? properties[name] : others
    if (target === undefined || target === false) {
      if (!takesAny) return `${words.has} no field ${at}`
      continue
    }
    const lost = loss(schema, target, words, at)
    if (lost !== undefined) return lost
  }
  const place = path === '' ? 'objects' : path
  const isOpen = takesAny || (others !== undefined && others !== false)
  if (given[ANY_FIELD] === true && !takesAny) return `not any field may be in ${place} ${words.where}`
  if (given.additionalProperties !== undefined && given.additionalProperties !== false) {
    if (!isOpen) return `${words.has} no free keys in ${place}`
    const lost = loss(given.additionalProperties, others, words, `${path}.*`)
    if (lost !== undefined) return lost
  }
  const missing = namesIn(taken.required).find(
    (name) => !namesIn(given.required).includes(name) && asObject(properties[name])?.default === undefined,
  )
  if (missing === undefined || path === '') return undefined
  return `${path}.${missing} is required ${words.where} alone`
}

function namesIn(list: Json | undefined): string[] {
  return Array.isArray(list) ? list.flatMap((name) => asName(name) ?? []) : []
}
