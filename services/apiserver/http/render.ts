import type { KubeObject } from '#libs/kube-model'
import { ApiError } from '../api-error.ts'
import type { ApiResource } from '../discovery/resources.ts'
import { toServed } from '../registry/conversion.ts'
import type { ListPage } from '../registry/list.ts'
import type { StoredObject } from '../storage/stored-object.ts'
import { itemJson } from '../storage/stored-object.ts'
import { toTable } from '../table/index.ts'
import type { Exchange } from './exchange.ts'
import { includeObject } from './include-object.ts'
import type { Representation } from './negotiate.ts'

const META_VERSION = 'meta.k8s.io/v1'

/** Sends one object in the representation that the client asked for. */
export function sendObject(
  exchange: Exchange,
  answer: { code: number; resource: ApiResource; object: KubeObject; representation: Representation },
): void {
  const { code, resource, representation } = answer
  const object = toServed(resource, answer.object)
  const { format } = representation
  if (representation.shape === 'metadata-list') throw wrongShape(resource, 'an object')
  if (representation.shape === 'metadata') exchange.sendJson(code, partialMetadata(object), { format })
  else if (representation.shape === 'table') {
    const table = toTable(resource, [object], {
      includeObject: includeObject(exchange.query),
      metadata: { resourceVersion: object.metadata.resourceVersion ?? '' },
    })
    exchange.sendJson(code, table, { format })
  } else exchange.sendJson(code, object, { format })
}

/** Sends a page of objects; JSON objects go out as they are stored. */
export function sendList(
  exchange: Exchange,
  answer: { resource: ApiResource; page: ListPage; representation: Representation },
): void {
  const { resource, page, representation } = answer
  const isPlain = representation.shape === 'object'
  const metadata = {
    resourceVersion: String(page.revision),
    ...(page.continue === undefined ? {} : { continue: page.continue }),
    // Lists of custom objects always show it.
    ...(page.continue === undefined && resource.custom !== undefined && isPlain ? { continue: '' } : {}),
    ...(page.remaining === undefined ? {} : { remainingItemCount: page.remaining }),
  }
  const objects = (): KubeObject[] => page.items.map(({ object }) => toServed(resource, object))
  const { format } = representation
  if (representation.shape === 'table') {
    const table = toTable(resource, objects(), { includeObject: includeObject(exchange.query), metadata })
    exchange.sendJson(200, table, { format })
  } else if (representation.shape === 'metadata') {
    throw wrongShape(resource, 'a list')
  } else if (representation.shape === 'metadata-list') {
    const items = objects().map((object) => partialMetadata(object))
    const list = { kind: 'PartialObjectMetadataList', apiVersion: META_VERSION, metadata, items }
    exchange.sendJson(200, list, { format })
  } else if (format === 'yaml') {
    exchange.sendJson(200, { ...listHead(resource), metadata, items: objects() }, { format })
  } else {
    const head = JSON.stringify({ ...listHead(resource), metadata }).slice(0, -1)
    const items = page.items.map((stored) => itemText(resource, stored)).join(',')
    exchange.send(200, `${head},"items":[${items}]}`, 'application/json')
  }
}

function wrongShape(resource: ApiResource, found: 'a list' | 'an object'): ApiError {
  const group = resource.group === '' ? 'core' : resource.group.split('.')[0]
  return new ApiError({
    code: 406,
    reason: 'NotAcceptable',
    message:
      found === 'a list'
        ? `you requested PartialObjectMetadata, but the requested object is a list (*${group}.${resource.kind}List)`
        : `you requested PartialObjectMetadataList, but the requested object is not a list (*${group}.${resource.kind})`,
  })
}

const listHead = (resource: ApiResource): { kind: string; apiVersion: string } => ({
  kind: resource.listKind ?? `${resource.kind}List`,
  apiVersion: resource.apiVersion,
})

function itemText(resource: ApiResource, stored: StoredObject): string {
  const served = toServed(resource, stored.object)
  if (resource.custom !== undefined) return served === stored.object ? stored.json : JSON.stringify(served)
  if (served === stored.object) return itemJson(stored)
  const { kind: _kind, apiVersion: _version, ...item } = served
  return JSON.stringify(item)
}

/** The object reduced to its metadata. */
export function partialMetadata(object: KubeObject): object {
  return { kind: 'PartialObjectMetadata', apiVersion: META_VERSION, metadata: object.metadata }
}
