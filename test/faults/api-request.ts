/** What a request to a Kubernetes API is about. */
export type Target = { resource: string; namespace: string; name: string; subresource: string }

/**
 * Reads the path of a request. Resources are named as `pods` or `deployments.apps`; what is not there is empty.
 * @returns `undefined` for what is no resource, such as `/version`
 */
export function targetOf(path: string): Target | undefined {
  const parts = path
    .split('/')
    .filter((part) => part !== '')
    .map(decodeURIComponent)
  const [root] = parts
  if (root !== 'api' && root !== 'apis') return undefined
  const group = root === 'apis' ? (parts[1] ?? '') : ''
  let rest = parts.slice(root === 'apis' ? 3 : 2)
  let namespace = ''
  // `namespaces/<name>/status` and the like are about the namespace, all else behind a namespace is about what is in it.
  if (rest[0] === 'namespaces' && rest.length > 2 && !['status', 'finalize'].includes(rest[2] ?? '')) {
    namespace = rest[1] ?? ''
    rest = rest.slice(2)
  }
  const [plural, name = '', subresource = ''] = rest
  if (plural === undefined) return undefined
  return { resource: group === '' ? plural : `${plural}.${group}`, namespace, name, subresource }
}

/** One request as it passed between Causeway and an API server. */
export type ApiRequest = {
  /** Name of the cluster. */
  cluster: string
  /** Order in which requests came in at all proxies together. */
  order: number
  /** When it came and when the API server had answered, ms since the epoch. */
  at: number
  doneAt: number
  method: string
  /** Below the cluster's base, without the query. */
  path: string
  target: Target | undefined
  /** SHA-256 of the body, empty without one. */
  digest: string
  /** Of writes. */
  body: Record<string, unknown> | undefined
  /** What the API server said; 0 when it was never asked or never answered. */
  status: number
  /** What the caller was told: 0 when the answer never came to it. */
  told: number
  /** The object that the API server answered a write with. */
  object: ApiObject | undefined
  /** The fault that changed the course of it. */
  fault: string | undefined
}

/** What the harness reads of an object. */
export type ApiObject = {
  apiVersion?: string
  kind?: string
  metadata: {
    name?: string
    namespace?: string
    uid?: string
    resourceVersion?: string
    labels?: Record<string, string>
    annotations?: Record<string, string>
    deletionTimestamp?: string
    finalizers?: string[]
    [field: string]: unknown
  }
  [field: string]: unknown
}
