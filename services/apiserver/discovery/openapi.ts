import { createHash } from 'node:crypto'
import { loadSchema } from '../schema/schema.ts'
import type { FieldSchema, TypeSchema } from '../schema/schema.ts'
import { customListType, customType, customTypeName } from './openapi-custom.ts'
import type { ResourceCatalog } from './resource-catalog.ts'
import type { ApiResource, GroupVersion } from './resources.ts'

type Kind = { group: string; version: string; kind: string }

const pathOf = ({ group, version }: GroupVersion): string =>
  group === '' ? `api/${version}` : `apis/${group}/${version}`

/** `/openapi/v3`: where the documents of the group versions are. */
export function openapiIndex(catalog: ResourceCatalog, prefix: string): object {
  const versions = new Map<string, string>()
  for (const resource of catalog.all()) {
    const path = pathOf(resource)
    versions.set(path, (versions.get(path) ?? '') + (resource.custom?.fingerprint ?? ''))
  }
  const paths = [...versions, ['version', ''] as const].map(([path, content]) => [
    path,
    { serverRelativeURL: `${prefix}/openapi/v3/${path}?hash=${hashOf(path, content)}` },
  ])
  return { paths: Object.fromEntries(paths) }
}

/** Documents of built-in kinds change only with the program, so their name is enough. */
const hashOf = (path: string, content: string): string =>
  createHash('sha256').update(`1:${path}${content}`).digest('hex').slice(0, 32).toUpperCase()

/** The document of one group version; `undefined` when it is not served. */
export function openapiV3(catalog: ResourceCatalog, groupVersion: GroupVersion): object | undefined {
  const resources = catalog.of(groupVersion)
  if (resources.length === 0) return undefined
  const names = reachableTypes(resources)
  const refs = '#/components/schemas/'
  const builtIn = [...names].map((name): [string, object] => [name, typeDocument(name, refs)])
  const schemas = Object.fromEntries([...builtIn, ...customTypes(resources, refs)])
  return {
    openapi: '3.0.0',
    info: { title: 'Kubernetes', version: 'v1.36.0' },
    paths: Object.assign({}, ...resources.map((resource) => resourcePaths(resource))) as object,
    components: { schemas },
  }
}

/** `/openapi/v2`: all types, without paths. */
export function openapiV2(catalog: ResourceCatalog): object {
  const { definitions } = loadSchema()
  const refs = '#/definitions/'
  const builtIn = Object.keys(definitions).map((name): [string, object] => [name, typeDocument(name, refs)])
  return {
    swagger: '2.0',
    info: { title: 'Kubernetes', version: 'v1.36.0' },
    paths: {},
    definitions: Object.fromEntries([...builtIn, ...customTypes(catalog.all(), refs)]),
  }
}

/** The protobuf form of a version 2 document that describes nothing. */
export function emptyOpenapiV2(): Buffer {
  const field = (number: number, content: Buffer): Buffer =>
    Buffer.concat([Buffer.of((number << 3) | 2, content.length), content])
  const text = (number: number, value: string): Buffer => field(number, Buffer.from(value))
  const info = Buffer.concat([text(1, 'Kubernetes'), text(2, 'v1.36.0')])
  return Buffer.concat([text(1, '2.0'), field(2, info), field(8, Buffer.alloc(0))])
}

const queryParameter = (name: string): object => ({
  in: 'query',
  name,
  schema: { type: 'string', uniqueItems: true },
})

/** Clients look here for the kinds and for whether writes take `fieldValidation` and `dryRun`. */
function resourcePaths(resource: ApiResource): Record<string, object> {
  const { group, version, kind } = resource
  const scope = resource.namespaced ? '/namespaces/{namespace}' : ''
  const root = `/${pathOf(resource)}${scope}/${resource.plural}`
  const own = { group, version, kind }
  const paths: Record<string, object> = {
    [root]: operations(resource.verbs, own, { list: 'get', create: 'post', deletecollection: 'delete' }),
    [`${root}/{name}`]: operations(resource.verbs, own, {
      get: 'get',
      update: 'put',
      patch: 'patch',
      delete: 'delete',
    }),
  }
  for (const sub of resource.subresources ?? []) {
    const subKind: Kind = sub.group ? { group: sub.group, version: 'v1', kind: sub.kind } : { ...own, kind: sub.kind }
    paths[`${root}/{name}/${sub.name}`] = operations(sub.verbs, subKind, {
      get: 'get',
      create: 'post',
      update: 'put',
      patch: 'patch',
      delete: 'delete',
    })
  }
  return paths
}

function operations(verbs: readonly string[], kind: Kind, methods: Record<string, string>): object {
  const document: Record<string, object> = {}
  for (const [verb, method] of Object.entries(methods)) {
    if (!verbs.includes(verb)) continue
    document[method] = {
      'x-kubernetes-action': verb === 'create' ? 'post' : verb === 'update' ? 'put' : verb,
      'x-kubernetes-group-version-kind': kind,
      ...(['get', 'list', 'delete', 'deletecollection'].includes(verb)
        ? {}
        : { parameters: ['dryRun', 'fieldManager', 'fieldValidation'].map(queryParameter) }),
      responses: { 200: { description: 'OK' } },
    }
  }
  return document
}

function customTypes(resources: readonly ApiResource[], refs: string): [string, object][] {
  return resources.flatMap((resource): [string, object][] => {
    if (resource.custom === undefined) return []
    const name = customTypeName(resource)
    return [
      [name, customType(resource, resource.custom, refs)],
      [`${name}List`, customListType(resource, refs)],
    ]
  })
}

function reachableTypes(resources: readonly ApiResource[]): Set<string> {
  const { kinds, definitions } = loadSchema()
  const names = new Set<string>()
  const visit = (name: string | undefined): void => {
    if (name === undefined || names.has(name) || definitions[name] === undefined) return
    names.add(name)
    for (const field of Object.values(definitions[name].fields ?? {})) visitField(field)
  }
  const visitField = (field: FieldSchema): void => {
    visit(field.ref)
    if (field.items !== undefined) visitField(field.items)
  }
  if (resources.some(({ custom }) => custom !== undefined)) {
    for (const name of ['ObjectMeta', 'ListMeta']) visit(`io.k8s.apimachinery.pkg.apis.meta.v1.${name}`)
  }
  for (const { apiVersion, kind } of resources) {
    visit(kinds[`${apiVersion}/${kind}`])
    visit(kinds[`${apiVersion}/${kind}List`])
  }
  return names
}

function kindsByType(): Map<string, Kind[]> {
  const byType = new Map<string, Kind[]>()
  for (const [key, name] of Object.entries(loadSchema().kinds)) {
    const parts = key.split('/')
    const [group = '', version = '', kind = ''] = parts.length === 2 ? ['', ...parts] : parts
    byType.set(name, [...(byType.get(name) ?? []), { group, version, kind }])
  }
  return byType
}

let typeKinds: Map<string, Kind[]> | undefined

function typeDocument(name: string, refs: string): object {
  const type: TypeSchema = loadSchema().definitions[name] ?? {}
  typeKinds ??= kindsByType()
  const kinds = typeKinds.get(name)
  const properties = Object.entries(type.fields ?? {}).map(([field, schema]) => [field, fieldDocument(schema, refs)])
  return {
    ...(type.fields === undefined ? {} : { type: 'object', properties: Object.fromEntries(properties) as object }),
    ...(type.type === undefined ? {} : { type: type.type }),
    ...(type.format === undefined ? {} : { format: type.format }),
    ...(type.required === undefined ? {} : { required: type.required }),
    ...(kinds === undefined ? {} : { 'x-kubernetes-group-version-kind': kinds }),
  }
}

function fieldDocument(field: FieldSchema, refs: string): object {
  if (field.ref !== undefined) {
    return refs.startsWith('#/definitions') ? { $ref: refs + field.ref } : { allOf: [{ $ref: refs + field.ref }] }
  }
  const items = field.items === undefined ? undefined : fieldDocument(field.items, refs)
  const isMap = field.type === 'map'
  return {
    ...(field.type === undefined ? {} : { type: isMap ? 'object' : field.type }),
    ...(items === undefined ? {} : isMap ? { additionalProperties: items } : { items }),
    ...(field.format === undefined ? {} : { format: field.format }),
    ...(field.patchStrategy === undefined ? {} : { 'x-kubernetes-patch-strategy': field.patchStrategy }),
    ...(field.patchMergeKey === undefined ? {} : { 'x-kubernetes-patch-merge-key': field.patchMergeKey }),
    ...(field.listType === undefined ? {} : { 'x-kubernetes-list-type': field.listType }),
    ...(field.listMapKeys === undefined ? {} : { 'x-kubernetes-list-map-keys': field.listMapKeys }),
  }
}
