import { ApiError } from '../api-error.ts'
import type { ApiResource } from '../discovery/resources.ts'
import { parseObject, readBody } from './body.ts'
import type { ResourceRequest } from './resource-request.ts'

const ADMIN = { username: 'admin', groups: ['system:masters', 'system:authenticated'] }

/** The answers: whoever has the cluster's token may do everything. */
const STATUS: Readonly<Record<string, object>> = {
  selfsubjectaccessreviews: { allowed: true },
  localsubjectaccessreviews: { allowed: true },
  subjectaccessreviews: { allowed: true },
  selfsubjectrulesreviews: {
    resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }],
    nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
    incomplete: false,
  },
  selfsubjectreviews: { userInfo: ADMIN },
  tokenreviews: { user: {} },
}

/** Whether the resource is a question that is answered and not stored. */
export function isReview(resource: ApiResource): boolean {
  return Object.hasOwn(STATUS, resource.plural)
}

/** Answers an access or token review. @throws ApiError */
export async function handleReview(request: ResourceRequest): Promise<void> {
  const { exchange, resource } = request
  if (request.name !== undefined) throw ApiError.notServed()
  if (exchange.method !== 'POST') throw ApiError.methodNotAllowed()
  const body = parseObject(exchange, await readBody(exchange), resource.kind)
  exchange.sendJson(201, {
    kind: resource.kind,
    apiVersion: resource.apiVersion,
    metadata: {},
    ...(body['spec'] === undefined ? {} : { spec: body['spec'] }),
    status: STATUS[resource.plural],
  })
}
