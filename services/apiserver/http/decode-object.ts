import type { KubeObject } from '#libs/kube-model'
import { ApiError } from '../api-error.ts'
import type { ApiResource } from '../discovery/resources.ts'
import { API_RESOURCES } from '../discovery/resources.ts'
import { decodeProblems } from '../schema/decode.ts'
import { duplicateFields } from '../schema/duplicate-fields.ts'
import { bodyType, parseObject } from './body.ts'
import type { Exchange } from './exchange.ts'

const SCHEME = 'k8s.io/kubernetes/pkg/api/legacyscheme/scheme.go:30'

const versions = new Set(API_RESOURCES.map(({ apiVersion }) => apiVersion))

/**
 * Reads a body as an object of the resource's kind. Unknown fields are warned of, or refused when the client wants
 * that.
 * @throws ApiError 400 or 415
 */
export function decodeObject(exchange: Exchange, body: Buffer, resource: ApiResource): KubeObject {
  const object = parseObject(exchange, body, resource.kind) as KubeObject
  requireKind(object, resource)
  const { typeErrors, unknown } = decodeProblems(resource, object)
  if (typeErrors[0] !== undefined) throw cannotHandle(resource, typeErrors[0])
  const refuse = (problem: string): ApiError => cannotHandle(resource, problem)
  if (exchange.query.get('fieldValidation') === 'Strict') refuseDuplicates(exchange, body, refuse)
  reportUnknown(exchange, unknown, refuse)
  object.metadata ??= {}
  return object
}

function refuseDuplicates(exchange: Exchange, body: Buffer, refuse: (problem: string) => ApiError): void {
  if (!['', 'application/json'].includes(bodyType(exchange))) return
  const texts = duplicateFields(body.toString()).map((path) => `duplicate field ${JSON.stringify(path)}`)
  if (texts.length > 0) throw refuse(`strict decoding error: ${texts.join(', ')}`)
}

/** Handles unknown fields as the `fieldValidation` parameter wants. @throws what `refuse` makes of the problem */
export function reportUnknown(
  exchange: Exchange,
  unknown: readonly string[],
  refuse: (problem: string) => ApiError,
): void {
  const mode = exchange.query.get('fieldValidation') ?? 'Warn'
  if (mode === 'Ignore' || unknown.length === 0) return
  const texts = unknown.map((path) => `unknown field ${JSON.stringify(path)}`)
  if (mode === 'Strict') throw refuse(`strict decoding error: ${texts.join(', ')}`)
  for (const text of texts) exchange.warn(text)
}

/** `KIND in version "V" cannot be handled as a KIND`. */
function cannotHandle(resource: ApiResource, problem: string): ApiError {
  const { kind, version } = resource
  return ApiError.badRequest(`${kind} in version ${JSON.stringify(version)} cannot be handled as a ${kind}: ${problem}`)
}

function requireKind(object: KubeObject, resource: ApiResource): void {
  if (resource.custom !== undefined) {
    requireCustomKind(object, resource)
    return
  }
  const kind = object.kind || resource.kind
  const apiVersion = object.apiVersion || resource.apiVersion
  if (kind === resource.kind && apiVersion === resource.apiVersion) return
  const version = apiVersion.split('/').at(-1) ?? ''
  const problem = versions.has(apiVersion)
    ? `converting (${version}.${kind}) to (${resource.group === '' ? 'core' : resource.group.split('.')[0]}.${resource.kind}): unknown conversion`
    : `no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(apiVersion)} in scheme ${JSON.stringify(SCHEME)}`
  throw ApiError.badRequest(
    `${kind} in version ${JSON.stringify(version)} cannot be handled as a ${resource.kind}: ${problem}`,
  )
}

/** Custom objects must say what they are. */
function requireCustomKind(object: KubeObject, resource: ApiResource): void {
  const { kind, apiVersion } = object
  if (!kind) throw ApiError.badRequest(`Object 'Kind' is missing in '${JSON.stringify(object)}'`)
  if (apiVersion !== resource.apiVersion) {
    throw ApiError.badRequest(
      `the API version in the data (${apiVersion ?? ''}) does not match the expected API version (${resource.apiVersion})`,
    )
  }
  if (kind !== resource.kind) {
    throw ApiError.badRequest(`the kind in the data (${kind}) does not match the expected kind (${resource.kind})`)
  }
}
