import type { CustomKind } from '../custom-resources/custom-kind.ts'
import type { ApiResource } from './resources.ts'

const META = 'io.k8s.apimachinery.pkg.apis.meta.v1'

/** The definition's name: the group's parts from back to front, version, kind. */
export function customTypeName({ group, version, kind }: ApiResource): string {
  return [...group.split('.').reverse(), version, kind].join('.')
}

/** A custom kind as a schema document: the definition's schema with what all objects have. */
export function customType(resource: ApiResource, { schema }: CustomKind, refs: string): object {
  const { group, version, kind } = resource
  return {
    ...schema,
    type: 'object',
    properties: {
      ...schema.properties,
      apiVersion: { type: 'string' },
      kind: { type: 'string' },
      metadata: referenceTo('ObjectMeta', refs),
    },
    'x-kubernetes-group-version-kind': [{ group, version, kind }],
  }
}

/** The document of lists of a custom kind. */
export function customListType(resource: ApiResource, refs: string): object {
  const { group, version, kind, listKind = `${kind}List` } = resource
  return {
    type: 'object',
    required: ['items'],
    properties: {
      apiVersion: { type: 'string' },
      kind: { type: 'string' },
      items: { type: 'array', items: { $ref: refs + customTypeName(resource) } },
      metadata: referenceTo('ListMeta', refs),
    },
    'x-kubernetes-group-version-kind': [{ group, version, kind: listKind }],
  }
}

const referenceTo = (name: string, refs: string): object => ({ $ref: `${refs}${META}.${name}` })
