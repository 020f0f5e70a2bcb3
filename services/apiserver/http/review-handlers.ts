import { ApiError } from '../api-error.ts'
import type { ApiResource } from '../discovery/resources.ts'
import { timestamp } from '../registry/cluster.ts'
import { parseObject, readBody } from './body.ts'
import type { ResourceRequest } from './resource-request.ts'

type Spec = { token?: string; audiences?: string[] }

type Answer = (request: ResourceRequest, spec: Spec) => object

const allowed: Answer = () => ({ allowed: true })

/** The answers: whoever has a token of the cluster may do everything. */
const ANSWERS: Readonly<Record<string, Answer>> = {
  selfsubjectaccessreviews: allowed,
  localsubjectaccessreviews: allowed,
  subjectaccessreviews: allowed,
  selfsubjectrulesreviews: () => ({
    resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }],
    nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
    incomplete: false,
  }),
  selfsubjectreviews: ({ user }) => ({ userInfo: user }),
  tokenreviews: (request, spec) => tokenStatus(request, spec),
}

/** Whether the resource is a question that is answered and not stored. */
export function isReview(resource: ApiResource): boolean {
  return resource.custom === undefined && Object.hasOwn(ANSWERS, resource.plural)
}

/** Answers an access or token review. @throws ApiError */
export async function handleReview(request: ResourceRequest): Promise<void> {
  const { cluster, exchange, resource } = request
  if (request.name !== undefined) throw ApiError.notServed()
  if (exchange.method !== 'POST') throw ApiError.methodNotAllowed()
  const body = parseObject(exchange, await readBody(exchange), resource.kind)
  const spec = (body['spec'] ?? {}) as Spec
  if (resource.plural === 'tokenreviews' && !spec.token) {
    throw ApiError.badRequest('token is required for TokenReview in authentication')
  }
  exchange.sendJson(201, {
    kind: resource.kind,
    apiVersion: resource.apiVersion,
    metadata: resource.plural === 'selfsubjectreviews' ? { creationTimestamp: timestamp(cluster) } : {},
    ...(body['spec'] === undefined ? {} : { spec }),
    status: ANSWERS[resource.plural]?.(request, spec),
  })
}

function tokenStatus({ authenticate }: ResourceRequest, { token = '', audiences }: Spec): object {
  const check = authenticate(token, audiences)
  return 'problem' in check
    ? { user: {}, error: check.problem }
    : { authenticated: true, user: check.identity, audiences: check.audiences }
}
