import fc from 'fast-check'
import { cloneJson } from '#libs/kernel'
import type { Json, JsonObject, KubeObject } from '#libs/kube-model'
import { asObject } from '../json.ts'

/** What an unknown field holds, by which it is found again. */
export const UNKNOWN = 'zz-unknown'

/** A host namespace that is another tenant's. */
const FOREIGN_NAMESPACE = 'tenant-team-b'

/** Where to change a real object, and how. */
export type Hostility = {
  name?: string
  labels: Record<string, string>
  annotations: Record<string, string>
  /** Which of the object's places gets a field that nobody knows. */
  unknownAt: number
  /** Whether all that names a namespace names a host namespace of others. */
  namespaces: boolean
}

const text = fc.constantFrom('a', 'x', 'a-x-b', 'tenant-team-b', '')
const map = fc.dictionary(
  fc.constantFrom(
    'app',
    'release',
    'constructor',
    'causeway.dev/tenant',
    'causeway.dev/namespace',
    'causeway.dev/host-name',
    'causeway.dev/uid',
    'causeway.dev/resource',
    'causeway.dev/mirror',
    'causeway.dev/token-of',
    'causeway.dev/ns-0123456789',
    'causeway.dev/label-0123456789',
  ),
  text,
)

/** Names that could be read as those of other objects, or that are too long to be kept. */
const name = fc.constantFrom('x', 'a-x-b', 'a.b-x-c', `${'a'.repeat(60)}.${'x'.repeat(60)}.b`)

export const hostility: fc.Arbitrary<Hostility> = fc.record(
  { name, labels: map, annotations: map, unknownAt: fc.nat(200), namespaces: fc.boolean() },
  { requiredKeys: ['labels', 'annotations', 'unknownAt', 'namespaces'] },
)

/** The object with these changes; its namespace stays, so that what it refers to is still there. */
export function madeHostile(object: KubeObject, given: Hostility): KubeObject {
  const hostile = cloneJson(object as JsonObject) as KubeObject
  const { metadata } = hostile
  hostile.metadata = {
    ...metadata,
    ...(given.name === undefined ? {} : { name: given.name }),
    labels: { ...metadata.labels, ...given.labels },
    annotations: { ...metadata.annotations, ...given.annotations },
  }
  const { metadata: _metadata, status: _status, ...content } = hostile as unknown as JsonObject
  if (given.namespaces) for (const place of placesIn(content)) nameForeign(place)
  const places = placesIn(content).filter(
    (place) => place === content || Object.values(place).some((value) => typeof value !== 'string'),
  )
  const place = places[given.unknownAt % Math.max(places.length, 1)]
  if (place !== undefined)
    (place === content ? (asObject(hostile['spec']) ?? hostile) : place)['zzUnknown'] = { zz: UNKNOWN }
  return hostile
}

function nameForeign(place: JsonObject): void {
  for (const key of Object.keys(place))
    if (/namespace$/i.test(key) && typeof place[key] === 'string') place[key] = FOREIGN_NAMESPACE
}

/** All objects in a value, itself first. */
export function placesIn(value: Json): JsonObject[] {
  if (Array.isArray(value)) return value.flatMap(placesIn)
  const object = asObject(value)
  return object === undefined ? [] : [object, ...Object.values(object).flatMap((inner) => placesIn(inner ?? null))]
}
