import { parse } from 'yaml'
import type { KubeObject } from '#libs/kube-model'
import { ApiError } from '../api-error.ts'
import type { ApiResource } from '../discovery/resources.ts'
import { applyServerSide } from '../managed-fields/apply.ts'
import { timestamp } from '../registry/cluster.ts'
import { storageResource, toServed, toStorage } from '../registry/conversion.ts'
import { admittedCreate, admittedUpdate } from './admitted-writes.ts'
import { readBody } from './body.ts'
import { storedSubresource } from './crud-handlers.ts'
import type { Exchange } from './exchange.ts'
import { negotiate } from './negotiate.ts'
import { sendObject } from './render.ts'
import { targetOf } from './resource-request.ts'
import type { ResourceRequest } from './resource-request.ts'
import { parseWriteOptions } from './write-options.ts'

export const APPLY_TYPE = 'application/apply-patch+yaml'

/** Server-side apply: makes the object when there is none. @throws ApiError */
export async function handleApply(request: ResourceRequest): Promise<void> {
  const { cluster, exchange, resource } = request
  const representation = negotiate(exchange.header('accept'))
  const text = String(await readBody(exchange))
  requireManager(exchange)
  const options = { ...parseWriteOptions(exchange, 'PatchOptions'), isApply: true }
  const target = targetOf(request)
  const applied = readConfiguration(text, resource, target)
  const subresource = storedSubresource(request.subresource)
  const apply = (current: KubeObject | undefined): KubeObject =>
    applyServerSide(current, applied, {
      gvk: resource,
      manager: options.manager,
      force: exchange.query.get('force') === 'true',
      subresource,
      time: timestamp(cluster),
    })
  const stored = cluster.store.get(target.resource.token, target.namespace, target.name)
  if (stored === undefined && subresource === undefined) {
    delete applied.metadata.resourceVersion
    const into = { resource: storageResource(resource), namespace: target.namespace }
    const object = await admittedCreate(request, into, { object: toStorage(resource, apply(undefined)), options })
    sendObject(exchange, { code: 201, resource, object, representation })
    return
  }
  const object = await admittedUpdate(request, target, {
    produce: (current) => toStorage(resource, apply(toServed(resource, current))),
    subresource,
    isPatch: true,
    options,
  })
  sendObject(exchange, { code: 200, resource, object, representation })
}

/** @throws ApiError 422: only an apply may take fields from others */
export function refuseForce(exchange: Exchange): void {
  if (!exchange.query.has('force')) return
  throw ApiError.invalidOptions('PatchOptions', [
    {
      reason: 'FieldValueForbidden',
      field: 'force',
      message: 'Forbidden: may not be specified for non-apply patch',
    },
  ])
}

function requireManager(exchange: Exchange): void {
  if (exchange.query.get('fieldManager')) return
  throw ApiError.invalidOptions('PatchOptions', [
    { reason: 'FieldValueRequired', field: 'fieldManager', message: 'Required value: is required for apply patch' },
  ])
}

function readConfiguration(
  text: string,
  resource: ApiResource,
  target: { namespace: string; name: string },
): KubeObject {
  const value = parseYaml(text)
  const object = (typeof value === 'object' && value !== null ? value : {}) as KubeObject
  const { apiVersion = '', kind = '' } = object
  if (apiVersion !== resource.apiVersion || kind !== resource.kind) {
    const groupVersion = apiVersion.includes('/') ? apiVersion : `/${apiVersion}`
    throw ApiError.badRequest(`invalid object type: ${groupVersion}, Kind=${kind}`)
  }
  const metadata = (object.metadata ??= {})
  if (metadata.managedFields !== undefined) throw ApiError.badRequest('metadata.managedFields must be nil')
  metadata.name ??= target.name
  if (metadata.name !== target.name) {
    throw ApiError.badRequest(
      `the name of the object (${metadata.name}) does not match the name on the URL (${target.name})`,
    )
  }
  return object
}

function parseYaml(text: string): unknown {
  try {
    return parse(text, { version: '1.1' })
  } catch {
    throw ApiError.badRequest('error decoding YAML: error converting YAML to JSON: yaml: did not find expected key')
  }
}
