import { readFileSync } from 'node:fs'

import type { Json, ResourceInfo } from '#libs/kube-model'

import type { CustomKind } from '../custom-resources/custom-kind.ts'

/** Group, version and kind of an object; any `ResourceInfo` will do. `custom`: the kind is not built in. */
export type Gvk = Pick<ResourceInfo, 'group' | 'version' | 'kind'> & { custom?: CustomKind }

/** One field of a type, as the API's published schema describes it. */
export type FieldSchema = {
  type?: string
  /** Name of the definition that describes the value. */
  ref?: string
  /** Fields of a structure that has no name, as custom kinds have them. */
  fields?: Record<string, FieldSchema>
  items?: FieldSchema
  format?: string
  default?: Json
  enum?: string[]
  listType?: 'map' | 'set' | 'atomic'
  listMapKeys?: string[]
  mapType?: 'atomic' | 'granular'
  patchStrategy?: string
  patchMergeKey?: string
  preserveUnknownFields?: boolean
  intOrString?: boolean
  /** Of a whole custom kind: its status is a field like others. */
  hasPlainStatus?: boolean
}

/** A definition: a structure with `fields`, or a scalar such as Quantity without. */
export type TypeSchema = {
  fields?: Record<string, FieldSchema>
  required?: string[]
  mapType?: 'atomic' | 'granular'
  type?: string
  format?: string
}

export type Schema = {
  /** `group/version/Kind` (`v1/Pod` in the core group) to the definition's name. */
  kinds: Record<string, string>
  definitions: Record<string, TypeSchema>
}

let loaded: Schema | undefined

/** The types of all built-in kinds, read from disk at the first call. */
export function loadSchema(): Schema {
  loaded ??= JSON.parse(readFileSync(new URL('../data/schema.json', import.meta.url), 'utf8')) as Schema
  return loaded
}

/** The definition of a kind; `undefined` for kinds that are not built in. */
export function typeNameOf(gvk: Gvk): string | undefined {
  const key = gvk.group === '' ? `${gvk.version}/${gvk.kind}` : `${gvk.group}/${gvk.version}/${gvk.kind}`
  return loadSchema().kinds[key]
}

/** The type of a whole kind; `undefined` when nothing is known of it. */
export function typeOf(gvk: Gvk): FieldSchema | undefined {
  if (gvk.custom !== undefined) return gvk.custom.type
  const typeName = typeNameOf(gvk)
  return typeName === undefined ? undefined : { ref: typeName }
}

/** The structure that a definition describes; `undefined` for scalars, free-form values and unknown names. */
export function structOf(typeName: string | undefined): Record<string, FieldSchema> | undefined {
  return typeName === undefined ? undefined : loadSchema().definitions[typeName]?.fields
}

/** The field of a structure; inherited object properties such as `constructor` are no fields. */
export function fieldOf(typeName: string | undefined, name: string): FieldSchema | undefined {
  const fields = structOf(typeName)
  return fields !== undefined && Object.hasOwn(fields, name) ? fields[name] : undefined
}

/** The last part of a definition's name: `PodSpec`. */
export function shortName(typeName: string): string {
  return typeName.slice(typeName.lastIndexOf('.') + 1)
}

const META = 'io.k8s.apimachinery.pkg.apis.meta.v1'

/** Names of the definitions that need care of their own. */
export const WELL_KNOWN = {
  quantity: 'io.k8s.apimachinery.pkg.api.resource.Quantity',
  time: `${META}.Time`,
  microTime: `${META}.MicroTime`,
  intOrString: 'io.k8s.apimachinery.pkg.util.intstr.IntOrString',
  objectMeta: `${META}.ObjectMeta`,
  fieldsV1: `${META}.FieldsV1`,
} as const
