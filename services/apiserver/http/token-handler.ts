import type { JsonObject, KubeObject } from '#libs/kube-model'
import { ApiError } from '../api-error.ts'
import type { FieldProblem } from '../api-error.ts'
import { timeText, timestamp } from '../registry/cluster.ts'
import { requireObject } from '../registry/update.ts'
import { ISSUER } from '../tokens/service-account-tokens.ts'
import type { TokenSubject } from '../tokens/service-account-tokens.ts'
import { parseObject, readBody } from './body.ts'
import { targetOf } from './resource-request.ts'
import type { ResourceRequest } from './resource-request.ts'
import { parseWriteOptions } from './write-options.ts'

type BoundObject = { kind?: string; apiVersion?: string; name?: string; uid?: string }

type TokenRequestSpec = { audiences?: string[]; expirationSeconds?: number; boundObjectRef?: BoundObject | null }

const TOKEN_REQUEST = { group: 'authentication.k8s.io', kind: 'TokenRequest' }
const MIN_SECONDS = 600
const MAX_SECONDS = 2 ** 32
const DEFAULT_SECONDS = 3600

const BINDABLE = { Pod: 'pods', Secret: 'secrets', Node: 'nodes' } as const

/** `serviceaccounts/token`: makes a token for a service account. @throws ApiError */
export async function handleToken(request: ResourceRequest): Promise<void> {
  const { cluster, exchange } = request
  const options = parseWriteOptions(exchange, 'CreateOptions')
  const body = parseObject(exchange, await readBody(exchange), 'TokenRequest') as { spec?: TokenRequestSpec }
  const target = targetOf(request)
  const { object } = requireObject(cluster, target)
  const spec = body.spec ?? {}
  const { audiences = [], expirationSeconds: seconds = DEFAULT_SECONDS, boundObjectRef } = spec
  const problem = durationProblem(seconds)
  if (problem !== undefined) throw ApiError.invalid(TOKEN_REQUEST, '', [problem])
  const bound = boundObjectRef ? boundObject(request, object, boundObjectRef) : undefined
  const wanted = audiences.length === 0 ? [ISSUER] : audiences
  const { name, uid } = { name: target.name, uid: object.metadata.uid ?? '' }
  const subject = { namespace: target.namespace, account: { name, uid }, ...(bound === undefined ? {} : { bound }) }
  const { token, expiresAt } = cluster.tokens.issue(subject, { audiences: wanted, seconds })
  const owned: JsonObject = {
    manager: options.manager,
    operation: 'Update',
    apiVersion: 'authentication.k8s.io/v1',
    time: timestamp(cluster),
    fieldsType: 'FieldsV1',
    fieldsV1: { 'f:spec': { 'f:expirationSeconds': {} } },
    subresource: 'token',
  }
  exchange.sendJson(201, {
    kind: 'TokenRequest',
    apiVersion: 'authentication.k8s.io/v1',
    metadata: {
      name,
      namespace: target.namespace,
      uid,
      creationTimestamp: timestamp(cluster),
      managedFields: [owned],
    },
    spec: { audiences: wanted, expirationSeconds: seconds, boundObjectRef: boundObjectRef ?? null },
    status: { token, expirationTimestamp: timeText(expiresAt) },
  })
}

function durationProblem(seconds: number): FieldProblem | undefined {
  const detail =
    seconds < MIN_SECONDS
      ? 'may not specify a duration less than 10 minutes'
      : seconds > MAX_SECONDS
        ? 'may not specify a duration larger than 2^32 seconds'
        : undefined
  if (detail === undefined) return undefined
  const message = `Invalid value: ${seconds}: ${detail}`
  return { reason: 'FieldValueInvalid', field: 'spec.expirationSeconds', message }
}

/** The object that a token is to die with. @throws ApiError when it is not there or not the account's */
function boundObject(request: ResourceRequest, account: KubeObject, reference: BoundObject): TokenSubject['bound'] {
  const { cluster } = request
  const { kind = '', name = '', uid } = reference
  if (kind !== 'Pod' && kind !== 'Secret' && kind !== 'Node') {
    throw ApiError.badRequest(`cannot bind token to object of type ${reference.apiVersion ?? ''}, Kind=${kind}`)
  }
  const resource = cluster.catalog.byToken(BINDABLE[kind])
  if (resource === undefined) throw ApiError.notServed()
  const namespace = resource.namespaced ? (account.metadata.namespace ?? '') : ''
  const { object } = requireObject(cluster, { resource, namespace, name })
  if (uid !== undefined && uid !== object.metadata.uid) {
    throw ApiError.conflict(
      resource,
      name,
      `the UID in the bound object reference (${uid}) does not match the UID in record. The object might have been deleted and then recreated`,
    )
  }
  const runsAs = (object['spec'] as { serviceAccountName?: string } | undefined)?.serviceAccountName ?? 'default'
  if (kind === 'Pod' && runsAs !== account.metadata.name) {
    throw ApiError.badRequest(
      `cannot bind token for serviceaccount ${JSON.stringify(account.metadata.name)} to pod running with different serviceaccount name.`,
    )
  }
  return { kind, name, uid: object.metadata.uid ?? '' }
}
