import { RESOURCES, apiVersionOf, resourcePath } from '#libs/kube-model'
import type { KubeObject } from '#libs/kube-model'
import type { ClusterConfig } from '../auth/cluster-config.ts'
import { KubeProtocolError, apiErrorFrom } from '../errors.ts'
import { createTransport } from '../transport/transport.ts'
import type { Body, KubeClient, KubeClientOptions, RequestOptions } from './kube-client.ts'

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
    const answer = await transport.request({
      method: call.method,
      path: call.path + queryString(call.query ?? {}),
      headers: headersFor(call),
      body: serialized(call.body),
      signal: call.signal,
      timeoutMs: call.timeoutMs,
    })
    const where = `${call.method} ${call.path}`
    if (answer.statusCode < 200 || answer.statusCode > 299) {
      throw apiErrorFrom(where, { ...answer, body: answer.body.toString('utf8') })
    }
    return answer.body.length === 0 ? undefined : parseJson(answer.body, where)
  }
  const write = (call: RequestOptions): Promise<KubeObject> =>
    request({ ...call, query: { ...call.query, fieldManager } }) as Promise<KubeObject>

  const get: KubeClient['get'] = (resource, target, call) =>
    request({ ...call, method: 'GET', path: resourcePath(resource, target) }) as Promise<KubeObject>

  const listPage: KubeClient['listPage'] = async (resource, list = {}) => {
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

  return {
    source: config.source,
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
    create: (resource, target, body, { dryRun, ...call } = {}) =>
      write({
        ...call,
        method: 'POST',
        path: resourcePath(resource, { namespace: target.namespace }),
        ...(dryRun === true ? { query: { dryRun: 'All' } } : {}),
        body,
      }),
    replace: (resource, target, body, { subresource, ...call } = {}) =>
      write({ ...call, method: 'PUT', path: resourcePath(resource, { ...target, subresource }), body }),
    patch: (resource, target, body, { type, subresource, ...call }) =>
      write({
        ...call,
        method: 'PATCH',
        path: resourcePath(resource, { ...target, subresource }),
        body,
        contentType: PATCH_TYPES[type],
      }),
    delete: (resource, target, { uid, resourceVersion, gracePeriodSeconds, propagationPolicy, ...call }) =>
      request({
        ...call,
        method: 'DELETE',
        path: resourcePath(resource, target),
        body: {
          apiVersion: 'v1',
          kind: 'DeleteOptions',
          preconditions: { uid, resourceVersion },
          gracePeriodSeconds,
          propagationPolicy,
        },
      }) as Promise<KubeObject>,
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
    watch: async (resource, { namespace, signal, timeoutMs, ...query }) => {
      const path = resourcePath(resource, { namespace })
      const answer = await transport.stream({
        method: 'GET',
        path: path + queryString({ ...query, watch: true, allowWatchBookmarks: true }),
        headers: { accept: 'application/json' },
        signal,
        timeoutMs,
      })
      if (!('chunks' in answer)) throw apiErrorFrom(`watch ${path}`, { ...answer, body: answer.body.toString('utf8') })
      return answer.chunks
    },
    version: (call) => request({ ...call, method: 'GET', path: '/version' }) as ReturnType<KubeClient['version']>,
    clusterIdentity: async (call) =>
      (await get(RESOURCES.namespaces, { name: 'kube-system' }, call)).metadata.uid ?? '',
    close: () => transport.close(),
  }
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
