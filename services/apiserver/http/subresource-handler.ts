import type { KubeObject } from '#libs/kube-model'
import { cloneJson } from '#libs/kernel'
import { ApiError } from '../api-error.ts'
import { withValueAt } from '../custom-resources/json-path.ts'
import type { ApiResource, Subresource } from '../discovery/resources.ts'
import { findResource } from '../discovery/resources.ts'
import { bindPod, evictPod } from '../registry/pods.ts'
import { scaleOf } from '../registry/scale.ts'
import { requireObject } from '../registry/update.ts'
import { admittedUpdate } from './admitted-writes.ts'
import { parseObject, readBody } from './body.ts'
import { handleGet, handleUpdate, successStatus } from './crud-handlers.ts'
import { decodeObject } from './decode-object.ts'
import { negotiate } from './negotiate.ts'
import { handlePatch, readPatch } from './patch-handler.ts'
import { handlePodConnect } from './pod-connect-handlers.ts'
import { sendObject } from './render.ts'
import { targetOf } from './resource-request.ts'
import type { ResourceRequest } from './resource-request.ts'
import { handleToken } from './token-handler.ts'
import { checkDelete, parseWriteOptions } from './write-options.ts'

const VERBS: Readonly<Record<string, string>> = {
  GET: 'get',
  HEAD: 'get',
  POST: 'create',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
}

/** What the `scale` view exchanges; it is not a resource of its own. */
const SCALE: ApiResource = {
  group: 'autoscaling',
  version: 'v1',
  apiVersion: 'autoscaling/v1',
  preferred: true,
  plural: 'scales',
  singular: 'scale',
  kind: 'Scale',
  namespaced: true,
  verbs: [],
  token: 'scales.autoscaling',
}

/** Answers a request for a subresource. @throws ApiError */
export async function handleSubresource(request: ResourceRequest): Promise<void> {
  const { resource, exchange, subresource } = request
  const known = resource.subresources?.find(({ name }) => name === subresource)
  if (known === undefined) {
    throw resource.custom === undefined ? ApiError.notServed() : ApiError.notFound(resource, request.name ?? '')
  }
  requireVerb(known, exchange.method)
  switch (known.name) {
    case 'binding':
      await handleBinding(request)
      return
    case 'eviction':
      await handleEviction(request)
      return
    case 'scale':
      await handleScale(request)
      return
    case 'token':
      await handleToken(request)
      return
    case 'attach':
    case 'exec':
    case 'log':
    case 'portforward':
    case 'proxy':
      handlePodConnect(request)
      return
    default:
      await handlePart(request)
  }
}

function requireVerb(subresource: Subresource, method: string): void {
  const verb = VERBS[method]
  if (verb === undefined || !subresource.verbs.includes(verb)) throw ApiError.methodNotAllowed()
}

/** `status`, `finalize`, `approval`, `resize` and `ephemeralcontainers` exchange the object itself. */
async function handlePart(request: ResourceRequest): Promise<void> {
  const { method } = request.exchange
  if (method === 'PUT') await handleUpdate(request)
  else if (method === 'PATCH') await handlePatch(request)
  else handleGet(request)
}

async function handleBinding(request: ResourceRequest): Promise<void> {
  const { cluster, exchange } = request
  const resource = findResource({ group: '', version: 'v1' }, 'bindings')
  if (resource === undefined) throw ApiError.notServed()
  const options = parseWriteOptions(exchange, 'CreateOptions')
  const binding = decodeObject(exchange, await readBody(exchange), resource)
  const { namespace, name } = targetOf(request)
  if (binding.metadata.name && binding.metadata.name !== name) {
    throw ApiError.badRequest('name in URL does not match name in Binding object')
  }
  bindPod(cluster, { namespace, name, binding }, options)
  exchange.sendJson(201, successStatus(201))
}

async function handleEviction(request: ResourceRequest): Promise<void> {
  const { cluster, exchange } = request
  const { namespace, name } = targetOf(request)
  const eviction = parseObject(exchange, await readBody(exchange), 'Eviction') as {
    metadata?: { name?: string }
    deleteOptions?: object
  }
  if (eviction.metadata?.name !== undefined && eviction.metadata.name !== name) {
    throw ApiError.badRequest('name in URL does not match name in Eviction object')
  }
  evictPod(cluster, { namespace, name }, checkDelete(eviction.deleteOptions ?? {}))
  exchange.sendJson(201, successStatus(201))
}

async function handleScale(request: ResourceRequest): Promise<void> {
  const { cluster, exchange, resource } = request
  const representation = negotiate(exchange.header('accept'))
  const target = targetOf(request)
  if (exchange.method === 'GET' || exchange.method === 'HEAD') {
    const { object } = requireObject(cluster, target)
    sendObject(exchange, { code: 200, resource: SCALE, object: scaleOf(resource, object), representation })
    return
  }
  const isPatch = exchange.method === 'PATCH'
  const options = parseWriteOptions(exchange, isPatch ? 'PatchOptions' : 'UpdateOptions')
  const change = isPatch ? await readPatch(exchange, SCALE) : await readScale(exchange)
  const object = await admittedUpdate(request, target, {
    produce: (current) => withReplicas({ resource, current }, change(scaleOf(resource, current))),
    // A Scale need not say which version of the object it changes.
    isPatch: isPatch || resource.custom !== undefined,
    options,
  })
  sendObject(exchange, { code: 200, resource: SCALE, object: scaleOf(resource, object), representation })
}

async function readScale(exchange: ResourceRequest['exchange']): Promise<() => KubeObject> {
  const body = decodeObject(exchange, await readBody(exchange), SCALE)
  return () => body
}

/** The object with the size, and the preconditions, that a Scale asks for. */
function withReplicas(target: { resource: ApiResource; current: KubeObject }, scale: KubeObject): KubeObject {
  const { name, uid, resourceVersion } = scale.metadata
  const replicas = (scale['spec'] as { replicas?: number } | undefined)?.replicas ?? 0
  if (replicas < 0) {
    throw ApiError.invalid(SCALE, name ?? '', [
      {
        reason: 'FieldValueInvalid',
        field: 'spec.replicas',
        message: `Invalid value: ${replicas}: must be greater than or equal to 0`,
      },
    ])
  }
  const path = target.resource.custom?.scale?.specReplicasPath ?? '.spec.replicas'
  const object = withValueAt(cloneJson(target.current), path, replicas)
  object.metadata = {
    ...object.metadata,
    name: name ?? '',
    ...(uid === undefined ? {} : { uid }),
    resourceVersion: resourceVersion ?? '',
  }
  return object
}
