import { ApiError } from '../api-error.ts'
import type { ApiResource } from '../discovery/resources.ts'
import { storageResource, toStorage } from '../registry/conversion.ts'
import type { DeleteRequest } from '../registry/delete.ts'
import { listPage } from '../registry/list.ts'
import type { ListPage } from '../registry/list.ts'
import { bindPod } from '../registry/pods.ts'
import { requireObject } from '../registry/update.ts'
import type { ObjectTarget, StoredPart } from '../registry/update.ts'
import { admittedCreate, admittedDelete, admittedUpdate } from './admitted-writes.ts'
import { readBody } from './body.ts'
import { decodeObject } from './decode-object.ts'
import type { Exchange } from './exchange.ts'
import { parseListOptions, revisionParam } from './list-options.ts'
import { negotiate } from './negotiate.ts'
import { warnOfObject } from './object-warnings.ts'
import { sendList, sendObject } from './render.ts'
import { targetOf } from './resource-request.ts'
import type { ResourceRequest } from './resource-request.ts'
import { selectionOf } from './selection.ts'
import { parseDeleteOptions, parseWriteOptions } from './write-options.ts'

/** Kinds whose deletion answers with the object rather than with a Status. */
const RETURNS_OBJECT = new Set([
  'namespaces',
  'persistentvolumeclaims',
  'persistentvolumes',
  'pods',
  'podtemplates',
  'resourcequotas',
  'serviceaccounts',
  'services',
  'storageclasses.storage.k8s.io',
])

const STORED_PARTS: readonly StoredPart[] = ['status', 'finalize', 'ephemeralcontainers', 'resize']

export function handleGet(request: ResourceRequest): void {
  const { cluster, exchange, resource } = request
  const representation = negotiate(exchange.header('accept'))
  revisionParam(exchange.query.get('resourceVersion') ?? '', (problem) => ApiError.internal(problem))
  const { object } = requireObject(cluster, targetOf(request))
  sendObject(exchange, { code: 200, resource, object, representation })
}

export function handleList(request: ResourceRequest): void {
  const { exchange, resource } = request
  const representation = negotiate(exchange.header('accept'))
  sendList(exchange, { resource, page: pageOf(request), representation })
}

function pageOf(request: ResourceRequest): ListPage {
  const { cluster, exchange, resource } = request
  const options = parseListOptions(exchange.query, false)
  const revision = revisionParam(options.resourceVersion, (problem) =>
    ApiError.badRequest(`invalid resource version: ${problem}`),
  )
  if (options.continue !== '' && revision > 0) {
    throw ApiError.badRequest('specifying resource version is not allowed when using continue')
  }
  if (revision > cluster.store.revision) {
    throw ApiError.versionTooLarge(options.resourceVersion, String(cluster.store.revision))
  }
  const selection = selectionOf(resource, request.namespace, options)
  const isFromCache = options.resourceVersion === '0' && options.continue === ''
  return listPage(cluster, {
    resource: storageResource(resource).token,
    ...selection,
    // As the upstream cache, which answers these lists, does not page.
    limit: isFromCache ? 0 : options.limit,
    continue: options.continue,
    exactRevision: options.match === 'Exact' ? revision : undefined,
  })
}

export async function handleCreate(request: ResourceRequest): Promise<void> {
  const { cluster, exchange, resource, namespace } = request
  const representation = negotiate(exchange.header('accept'))
  const options = parseWriteOptions(exchange, 'CreateOptions')
  const body = decodeObject(exchange, await readBody(exchange), resource)
  if (resource.token === 'bindings') {
    bindPod(cluster, { namespace: namespace ?? '', name: body.metadata.name ?? '', binding: body }, options)
    exchange.sendJson(201, successStatus(201))
    return
  }
  const target = { resource: storageResource(resource), namespace: namespace ?? '' }
  const object = await admittedCreate(request, target, { object: toStorage(resource, body), options })
  warnOfObject(exchange, resource, object)
  sendObject(exchange, { code: 201, resource, object, representation })
}

export async function handleUpdate(request: ResourceRequest): Promise<void> {
  const { exchange, resource } = request
  const representation = negotiate(exchange.header('accept'))
  const options = parseWriteOptions(exchange, 'UpdateOptions')
  const body = decodeObject(exchange, await readBody(exchange), resource)
  const object = await admittedUpdate(request, targetOf(request), {
    produce: () => toStorage(resource, body),
    subresource: storedSubresource(request.subresource),
    options,
  })
  warnOfObject(exchange, resource, object)
  sendObject(exchange, { code: 200, resource, object, representation })
}

/** The parts of an object that are written on their own. */
export function storedSubresource(name: string | undefined): StoredPart | undefined {
  return STORED_PARTS.find((part) => part === name)
}

export async function handleDelete(request: ResourceRequest): Promise<void> {
  const { exchange, resource } = request
  const representation = negotiate(exchange.header('accept'))
  const options = parseDeleteOptions(exchange, await readBody(exchange))
  const target = targetOf(request)
  const { object, isGone } = await admittedDelete(request, target, options)
  if (!isGone || RETURNS_OBJECT.has(resource.token)) {
    sendObject(exchange, { code: 200, resource, object, representation })
    return
  }
  sendDeleted(exchange, resource, { name: target.name, uid: object.metadata.uid ?? '' })
}

function sendDeleted(exchange: Exchange, resource: ApiResource, object: { name: string; uid: string }): void {
  const group = resource.group === '' ? {} : { group: resource.group }
  exchange.sendJson(200, {
    ...successStatus(),
    details: { name: object.name, ...group, kind: resource.plural, uid: object.uid },
  })
}

export async function handleCollectionDelete(request: ResourceRequest): Promise<void> {
  const { cluster, exchange, resource } = request
  const representation = negotiate(exchange.header('accept'))
  const body = await readBody(exchange)
  const page = pageOf(request)
  const options = parseDeleteOptions(exchange, body)
  for (const { namespace, name } of page.items) {
    await deleteListed(request, { resource: storageResource(resource), namespace, name }, options)
  }
  sendList(exchange, { resource, page: { ...page, revision: cluster.store.revision }, representation })
}

/** Deletes one object of a list, which may have gone meanwhile. */
async function deleteListed(request: ResourceRequest, target: ObjectTarget, options: DeleteRequest): Promise<void> {
  try {
    await admittedDelete(request, target, options)
  } catch (error) {
    if (!(error instanceof ApiError && error.code === 404)) throw error
  }
}

/** What actions without a result of their own answer. */
export function successStatus(code?: number): object {
  const status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success' }
  return code === undefined ? status : { ...status, code }
}
