import { ApiError } from '../api-error.ts'

/** The media types a kube-apiserver names in its refusals; protobuf is not served here. */
export const MEDIA_TYPES = ['application/json', 'application/yaml', 'application/vnd.kubernetes.protobuf'] as const

export type Representation = {
  format: 'json' | 'yaml'
  /** What objects are turned into before they are sent. */
  shape: 'object' | 'table' | 'metadata' | 'metadata-list'
}

type Clause = { type: string; params: ReadonlyMap<string, string>; quality: number }

/**
 * The best served representation that the Accept header allows. JSON is preferred among equals.
 * @throws ApiError 406
 */
export function negotiate(accept: string | undefined): Representation {
  const clauses = parseAccept(accept)
  if (clauses.length === 0) return { format: 'json', shape: 'object' }
  let isShapeRefused = false
  for (const { type, params } of clauses) {
    const format = formatOf(type)
    if (format === undefined) continue
    const shape = shapeOf(params)
    if (shape !== undefined) return { format, shape }
    isShapeRefused = true
  }
  throw isShapeRefused ? ApiError.shapeNotAcceptable(MEDIA_TYPES) : ApiError.notAcceptable(MEDIA_TYPES)
}

/** Whether aggregated discovery in a version we serve is what the client prefers. @throws ApiError 406 */
export function wantsAggregatedDiscovery(accept: string | undefined): boolean {
  const clauses = parseAccept(accept)
  for (const { type, params } of clauses) {
    if (formatOf(type) === undefined) continue
    if (params.get('as') === undefined) return false
    if (params.get('as') === 'APIGroupDiscoveryList' && params.get('v') === 'v2') return true
  }
  if (clauses.length === 0) return false
  throw clauses.some(({ type }) => formatOf(type) !== undefined)
    ? ApiError.shapeNotAcceptable(MEDIA_TYPES)
    : ApiError.notAcceptable(MEDIA_TYPES)
}

function parseAccept(accept: string | undefined): Clause[] {
  return (accept ?? '')
    .split(',')
    .map((text) => text.trim())
    .filter((text) => text !== '')
    .map((text) => {
      const [type = '', ...rest] = text.split(';').map((part) => part.trim())
      const params = new Map(
        rest.map((part): [string, string] => {
          const [name = '', value = ''] = part.split('=')
          return [name.trim(), value.trim()]
        }),
      )
      const quality = Number(params.get('q') ?? 1)
      return { type, params, quality: Number.isFinite(quality) ? quality : 0 }
    })
    .sort((a, b) => b.quality - a.quality)
}

function formatOf(type: string): Representation['format'] | undefined {
  if (type === 'application/json' || type === '*/*') return 'json'
  return type === 'application/yaml' ? 'yaml' : undefined
}

function shapeOf(params: ReadonlyMap<string, string>): Representation['shape'] | undefined {
  const as = params.get('as')
  if (as === undefined) return 'object'
  const version = params.get('v')
  if (params.get('g') !== 'meta.k8s.io' || (version !== 'v1' && version !== 'v1beta1')) return undefined
  if (as === 'Table') return 'table'
  if (as === 'PartialObjectMetadata') return 'metadata'
  return as === 'PartialObjectMetadataList' ? 'metadata-list' : undefined
}
