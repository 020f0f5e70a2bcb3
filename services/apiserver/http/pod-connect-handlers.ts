import { ApiError } from '../api-error.ts'
import { requireObject } from '../registry/update.ts'
import { intParam } from './list-options.ts'
import { targetOf } from './resource-request.ts'
import type { ResourceRequest } from './resource-request.ts'

type Container = { name: string }

type PodSpec = {
  nodeName?: string
  containers?: Container[]
  initContainers?: Container[]
  ephemeralContainers?: Container[]
}

/**
 * Logs, exec and the like. There are no kubelets behind this server, so what can be answered is what a server answers
 * before it reaches one.
 */
export function handlePodConnect(request: ResourceRequest): void {
  const { cluster, exchange, resource, subresource } = request
  const target = targetOf(request)
  const tailLines = subresource === 'log' ? intParam(exchange.query, 'tailLines') : undefined
  if (tailLines !== undefined && tailLines < 0) {
    throw ApiError.invalid({ group: '', kind: 'PodLogOptions' }, target.name, [
      {
        reason: 'FieldValueInvalid',
        field: 'tailLines',
        message: `Invalid value: ${tailLines}: must be greater than or equal to 0`,
      },
    ])
  }
  const { object } = requireObject(cluster, target)
  if (resource.token !== 'pods') throw unreachable(target.name)
  const spec = (object['spec'] ?? {}) as PodSpec
  if (subresource !== 'portforward' && subresource !== 'proxy') {
    requireContainer(target.name, spec, exchange.query.get('container') ?? '')
  }
  if (spec.nodeName) throw ApiError.notFound(resource, spec.nodeName)
  if (subresource !== 'log') throw ApiError.badRequest(`pod ${target.name} does not have a host assigned`)
  exchange.response.statusCode = 204
  exchange.response.end()
}

function requireContainer(pod: string, spec: PodSpec, asked: string): void {
  const own = spec.containers ?? []
  const all = [...(spec.initContainers ?? []), ...own, ...(spec.ephemeralContainers ?? [])]
  if (asked === '') {
    if (own.length <= 1) return
    const names = own.map(({ name }) => name).join(' ')
    throw ApiError.badRequest(`a container name must be specified for pod ${pod}, choose one of: [${names}]`)
  }
  if (!all.some(({ name }) => name === asked)) {
    throw ApiError.badRequest(`container ${asked} is not valid for pod ${pod}`)
  }
}

function unreachable(name: string): ApiError {
  return new ApiError({
    code: 503,
    reason: 'ServiceUnavailable',
    message: `no endpoints available for ${JSON.stringify(name)}`,
  })
}
