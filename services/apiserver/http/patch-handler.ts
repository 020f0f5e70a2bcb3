import type { JsonObject, KubeObject } from '#libs/kube-model'
import { ApiError } from '../api-error.ts'
import type { ApiResource } from '../discovery/resources.ts'
import { applyJsonPatch } from '../patch/json-patch.ts'
import { applyMergePatch } from '../patch/merge-patch.ts'
import { invalidPatch, patchedText } from '../patch/patch-error.ts'
import { applyStrategicMergePatch } from '../patch/strategic-patch.ts'
import { toServed, toStorage } from '../registry/conversion.ts'
import { decodeProblems } from '../schema/decode.ts'
import type { Gvk } from '../schema/schema.ts'
import { admittedUpdate } from './admitted-writes.ts'
import { APPLY_TYPE, handleApply, refuseForce } from './apply-handler.ts'
import { bodyType, jsonErrorText, readBody } from './body.ts'
import { storedSubresource } from './crud-handlers.ts'
import { reportUnknown } from './decode-object.ts'
import type { Exchange } from './exchange.ts'
import { negotiate } from './negotiate.ts'
import { warnOfObject } from './object-warnings.ts'
import { sendObject } from './render.ts'
import { targetOf } from './resource-request.ts'
import type { ResourceRequest } from './resource-request.ts'
import { parseWriteOptions } from './write-options.ts'

type ApplyPatch = (document: JsonObject, patch: unknown, resource: ApiResource) => JsonObject

const PATCHES: Readonly<Record<string, ApplyPatch>> = {
  'application/json-patch+json': applyJsonPatch,
  'application/merge-patch+json': applyMergePatch,
  'application/strategic-merge-patch+json': applyStrategicMergePatch,
}

/** Strategic patches need Go types behind the kind. */
const CUSTOM_PATCH_TYPES = ['application/json-patch+json', 'application/merge-patch+json', APPLY_TYPE]

export async function handlePatch(request: ResourceRequest): Promise<void> {
  const { exchange, resource } = request
  if (bodyType(exchange) === APPLY_TYPE) {
    await handleApply(request)
    return
  }
  refuseForce(exchange)
  const representation = negotiate(exchange.header('accept'))
  const patch = await readPatch(exchange, resource)
  const options = parseWriteOptions(exchange, 'PatchOptions')
  const object = await admittedUpdate(request, targetOf(request), {
    produce: (current) => toStorage(resource, patch(toServed(resource, current))),
    subresource: storedSubresource(request.subresource),
    isPatch: true,
    options,
  })
  warnOfObject(exchange, resource, object)
  sendObject(exchange, { code: 200, resource, object, representation })
}

/**
 * Reads a patch of any of the served types.
 * @returns what makes a new object of the old one. @throws ApiError 400 or 415
 */
export async function readPatch(
  exchange: Exchange,
  resource: ApiResource,
): Promise<(current: KubeObject) => KubeObject> {
  const type = bodyType(exchange)
  const apply = PATCHES[type]
  if (apply === undefined) {
    exchange.request.resume()
    throw ApiError.unsupportedMediaType()
  }
  if (apply === applyStrategicMergePatch && resource.custom !== undefined) {
    exchange.request.resume()
    throw ApiError.unsupportedMediaType(CUSTOM_PATCH_TYPES)
  }
  const text = String(await readBody(exchange))
  const patch = parsePatch(text, type)
  return (current) => {
    const patched = apply(current as unknown as JsonObject, patch, resource) as unknown as KubeObject
    checkPatched(exchange, resource, patched)
    return patched
  }
}

function parsePatch(text: string, type: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    const problem = jsonErrorText(error, text)
    throw ApiError.badRequest(type.includes('strategic') ? problem : `error decoding patch: ${problem}`)
  }
}

/** The result must still be readable as its kind. */
function checkPatched(exchange: Exchange, resource: ApiResource, patched: KubeObject): void {
  const { typeErrors, unknown } = decodeProblems(kindOf(patched, resource), patched)
  const refuse = (problem: string): ApiError => invalidPatch(patchedText(patched as unknown as JsonObject), problem)
  if (typeErrors[0] !== undefined) throw refuse(typeErrors[0])
  reportUnknown(exchange, unknown, refuse)
}

/** A patch may make another kind of an object; it is then read as that kind, and refused later. */
function kindOf(object: KubeObject, resource: ApiResource): Gvk {
  if (resource.custom !== undefined) return resource
  const [first = '', second] = (object.apiVersion || resource.apiVersion).split('/')
  const [group, version] = second === undefined ? ['', first] : [first, second]
  return { group, version, kind: object.kind || resource.kind }
}
