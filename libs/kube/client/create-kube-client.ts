import { RESOURCES, apiVersionOf, resourcePath } from '#libs/kube-model'
import type { KubeObject, ResourceInfo } from '#libs/kube-model'
import type { ClusterConfig } from '../auth/cluster-config.ts'
import { KubeApiError, KubeConnectionError, KubeProtocolError, apiErrorFrom } from '../errors.ts'
import { createTransport } from '../transport/transport.ts'
import type {
  Body,
  CallOptions,
  KubeClient,
  KubeClientOptions,
  ListOptions,
  ListPage,
  RequestEnd,
  RequestOptions,
} from './kube-client.ts'
import { createServedVersions } from './served-version.ts'

const PATCH_TYPES = {
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  json: 'application/json-patch+json',
} as const

/** Creates a client; nothing is connected before the first call. */
export function createKubeClient(config: ClusterConfig, options: KubeClientOptions = {}): KubeClient {
  const transport = createTransport({
    config,
    http2: options.http2 ?? true,
    timeoutMs: options.timeoutMs ?? 30_000,
    maxBodyBytes: options.maxBodyBytes ?? 256 * 1024 * 1024,
  })
  const fieldManager = options.fieldManager ?? 'causeway'

  const request = async (call: RequestOptions): Promise<unknown> => {
    const ended = call.onRequest?.({ method: call.method, path: call.path })
    const answer = await transport
      .request({
        method: call.method,
        path: call.path + queryString(call.query ?? {}),
        headers: headersFor(call),
        body: serialized(call.body),
        signal: call.signal,
        timeoutMs: call.timeoutMs,
      })
      .catch((error: unknown) => {
        ended?.(failureOf(error))
        throw error
      })
    ended?.({ server: answer.server, status: answer.statusCode })
    const where = `${call.method} ${call.path}`
    if (answer.statusCode < 200 || answer.statusCode > 299) {
      throw apiErrorFrom(where, { ...answer, body: answer.body.toString('utf8') })
    }
    return answer.body.length === 0 ? undefined : parseJson(answer.body, where)
  }
  const write = (call: RequestOptions): Promise<KubeObject> =>
    request({ ...call, query: { ...call.query, fieldManager } }) as Promise<KubeObject>

  const versions = createServedVersions((path, call) => request({ ...pick(call), method: 'GET', path }))
  /** Makes a call in a version that is served, for resources without one. */
  const served = async <T>(
    resource: ResourceInfo,
    call: CallOptions | undefined,
    run: (resolved: ResourceInfo) => Promise<T>,
  ): Promise<T> => {
    if (resource.version !== '') return run(resource)
    try {
      return await run(await versions.resolve(resource, call))
    } catch (error) {
      if (isUnknownPath(error)) versions.forget(resource)
      throw error
    }
  }

  const get: KubeClient['get'] = (of, target, call) =>
    served(
      of,
      call,
      (resource) => request({ ...call, method: 'GET', path: resourcePath(resource, target) }) as Promise<KubeObject>,
    )

  const pageOf = async (resource: ResourceInfo, list: ListOptions): Promise<ListPage> => {
    const answer = (await request({
      method: 'GET',
      path: resourcePath(resource, { namespace: list.namespace }),
      query: {
        limit: list.limit === 0 ? undefined : (list.limit ?? 500),
        continue: list.continueToken,
        labelSelector: list.labelSelector,
        fieldSelector: list.fieldSelector,
        resourceVersion: list.resourceVersion,
        resourceVersionMatch: list.resourceVersionMatch,
      },
      signal: list.signal,
      timeoutMs: list.timeoutMs,
    })) as { items?: KubeObject[] | null; metadata?: { resourceVersion?: string; continue?: string } }
    const kind = { apiVersion: apiVersionOf(resource), kind: resource.kind }
    return {
      items: (answer.items ?? []).map((item) => ({ ...kind, ...item })),
      resourceVersion: answer.metadata?.resourceVersion ?? '',
      continueToken: answer.metadata?.continue || undefined,
    }
  }
  const listPage: KubeClient['listPage'] = (of, list = {}) => served(of, list, (resource) => pageOf(resource, list))

  return {
    source: config.source,
    get origin() {
      return transport.origin()
    },
    request,
    get,
    listPage,
    listPages: async function* (resource, list = {}) {
      let continueToken = list.continueToken
      do {
        const page = await listPage(resource, { ...list, continueToken })
        yield page
        continueToken = page.continueToken
      } while (continueToken !== undefined)
    },
    create: (of, target, body, { dryRun, ...call } = {}) =>
      served(of, call, (resource) =>
        write({
          ...call,
          method: 'POST',
          path: resourcePath(resource, { namespace: target.namespace }),
          ...(dryRun === true ? { query: { dryRun: 'All' } } : {}),
          body,
        }),
      ),
    replace: (of, target, body, { subresource, ...call } = {}) =>
      served(of, call, (resource) =>
        write({ ...call, method: 'PUT', path: resourcePath(resource, { ...target, subresource }), body }),
      ),
    patch: (of, target, body, { type, subresource, ...call }) =>
      served(of, call, (resource) =>
        write({
          ...call,
          method: 'PATCH',
          path: resourcePath(resource, { ...target, subresource }),
          body,
          contentType: PATCH_TYPES[type],
        }),
      ),
    delete: (of, target, { uid, resourceVersion, gracePeriodSeconds, propagationPolicy, ...call }) =>
      served(of, call, (resource) => {
        const body = {
          apiVersion: 'v1',
          kind: 'DeleteOptions',
          preconditions: { uid, resourceVersion },
          gracePeriodSeconds,
          propagationPolicy,
        }
        const path = resourcePath(resource, target)
        return request({ ...call, method: 'DELETE', path, body }) as Promise<KubeObject>
      }),
    bind: async ({ namespace, name, uid }, node, call) => {
      await write({
        ...call,
        method: 'POST',
        path: resourcePath(RESOURCES.pods, { namespace, name, subresource: 'binding' }),
        body: {
          apiVersion: 'v1',
          kind: 'Binding',
          metadata: { namespace, name, uid },
          target: { apiVersion: 'v1', kind: 'Node', name: node },
        },
      })
    },
    watch: (of, { namespace, signal, timeoutMs, ...query }) =>
      served(of, { signal, timeoutMs }, async (resource) => {
        const path = resourcePath(resource, { namespace })
        const answer = await transport.stream({
          method: 'GET',
          path: path + queryString({ ...query, watch: true, allowWatchBookmarks: true }),
          headers: { accept: 'application/json' },
          signal,
          timeoutMs,
        })
        if ('chunks' in answer) return answer.chunks
        throw apiErrorFrom(`watch ${path}`, { ...answer, body: answer.body.toString('utf8') })
      }),
    version: (call) => request({ ...call, method: 'GET', path: '/version' }) as ReturnType<KubeClient['version']>,
    clusterIdentity: async (call) =>
      (await get(RESOURCES.namespaces, { name: 'kube-system' }, call)).metadata.uid ?? '',
    close: () => transport.close(),
  }
}

/** What of a call goes for those that it needs, too. */
function pick({ signal, timeoutMs, onRequest }: CallOptions = {}): CallOptions {
  return { signal, timeoutMs, onRequest }
}

function failureOf(error: unknown): RequestEnd {
  if (error instanceof KubeConnectionError) {
    const { server, reason } = error
    return { server: server.includes('://') ? server : `https://${server}`, error: reason }
  }
  return { error: error instanceof Error ? error.name : 'unknown' }
}

/** 404 for the path and not for the object. */
function isUnknownPath(error: unknown): boolean {
  return error instanceof KubeApiError && error.statusCode === 404 && error.details?.name === undefined
}

function headersFor(call: RequestOptions): Record<string, string> {
  if (call.body === undefined) return { accept: 'application/json' }
  return { accept: 'application/json', 'content-type': call.contentType ?? 'application/json' }
}

function serialized(body: Body | undefined): string | Uint8Array | undefined {
  if (body === undefined || typeof body === 'string' || body instanceof Uint8Array) return body
  return JSON.stringify(body)
}

function queryString(query: NonNullable<RequestOptions['query']>): string {
  const pairs = Object.entries(query).filter(([, value]) => value !== undefined && value !== '')
  if (pairs.length === 0) return ''
  return `?${pairs.map(([key, value]) => `${key}=${encodeURIComponent(String(value))}`).join('&')}`
}

function parseJson(body: Buffer, where: string): unknown {
  try {
    return JSON.parse(body.toString('utf8'))
  } catch (cause) {
    throw new KubeProtocolError(`${where}: the answer is not JSON`, { reason: 'Corrupt', cause })
  }
}
