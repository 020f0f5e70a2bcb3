import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { systemClock } from '#libs/kernel'
import { type KubeClient, createKubeClient, loadClusterConfig } from '#libs/kube'
import { type KubeObject, RESOURCES } from '#libs/kube-model'
import { kubeconfigText } from '../../services/apiserver/kubeconfig.ts'
import { createServerCredential } from '../../services/apiserver/tls/certificate.ts'
import type { ApiRequest } from './api-request.ts'
import { type Proxy, openProxy } from './proxy.ts'

let folder: string
let proxy: Proxy
let log: ApiRequest[]
/** How many requests the API server behind has had. */
let asked: number
/** Watches that it has open. */
let watching: ServerResponse[]
const closers: (() => Promise<void> | void)[] = []

const pod = (name: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'a', uid: `uid-${name}`, resourceVersion: '7' },
})

function serve(request: IncomingMessage, response: ServerResponse): void {
  asked += 1
  response.setHeader('content-type', 'application/json')
  if (request.headers.authorization !== 'Bearer upstream') {
    response.writeHead(401).end('{}')
  } else if (request.url?.includes('watch=true')) {
    response.flushHeaders()
    watching.push(response)
  } else if (request.method === 'GET' && request.url?.split('?')[0]?.endsWith('/pods')) {
    response.end(JSON.stringify({ metadata: { resourceVersion: '9' }, items: [pod('web')] }))
  } else {
    response.end(JSON.stringify(pod('web')))
  }
}

async function connect(): Promise<KubeClient> {
  const config = await loadClusterConfig({ path: proxy.kubeconfig, env: {}, clock: systemClock })
  const client = createKubeClient(config, { timeoutMs: 2_000 })
  closers.push(() => client.close())
  return client
}

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'causeway-proxy-'))
  log = []
  asked = 0
  watching = []
  const { authority, server: own } = createServerCredential({ hosts: ['127.0.0.1'], now: Date.now(), days: 1 })
  const server = createServer({ key: own.key, cert: own.certificate }, serve)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}/clusters/c`
  const upstream = join(folder, 'upstream.yaml')
  writeFileSync(upstream, kubeconfigText({ name: 'c', server: url, authority, token: 'upstream' }))
  const kubeconfig = join(folder, 'proxy.yaml')
  proxy = await openProxy({ cluster: 'c', upstream, kubeconfig, random: () => 0, onRequest: (one) => log.push(one) })
  closers.push(
    () => proxy.close(),
    () => server.closeAllConnections(),
    () => void server.close(),
  )
})

afterEach(async () => {
  for (const close of closers.splice(0)) await close()
  rmSync(folder, { recursive: true })
})

const target = { namespace: 'a', name: 'web' }

test('passes requests and answers on, and keeps what an audit needs to know', async () => {
  const client = await connect()
  expect(await client.get(RESOURCES.pods, target)).toMatchObject({ metadata: { name: 'web' } })
  await client.delete(RESOURCES.pods, target, { uid: 'uid-web' })
  expect(log).toMatchObject([
    { cluster: 'c', method: 'GET', path: '/api/v1/namespaces/a/pods/web', status: 200, told: 200 },
    {
      method: 'DELETE',
      target: { resource: 'pods', namespace: 'a', name: 'web' },
      body: { preconditions: { uid: 'uid-web' } },
      status: 200,
      told: 200,
      object: { metadata: { uid: 'uid-web' } },
    },
  ])
  expect(log[1]?.digest).toHaveLength(64)
})

test('passes a watch on event by event', async () => {
  const { lines } = await watch()
  watching[0]?.write(`${JSON.stringify({ type: 'ADDED', object: pod('web') })}\n`)
  expect((await lines.next()).value).toContain('"ADDED"')
  watching[0]?.write('again\n')
  expect((await lines.next()).value).toBe('again\n')
})

describe('while it breaks', () => {
  test('a refused request never comes to the API server', async () => {
    const client = await connect()
    const end = proxy.begin({ kind: 'refuse', status: 429, share: 1 })
    await expect(client.get(RESOURCES.pods, target)).rejects.toMatchObject({ statusCode: 429 })
    expect(asked).toBe(0)
    end()
    await client.get(RESOURCES.pods, target)
  })

  test('an answer is lost after the API server has done what it was asked', async () => {
    const client = await connect()
    const end = proxy.begin({ kind: 'reset', share: 1, after: true })
    await expect(client.create(RESOURCES.pods, { namespace: 'a' }, pod('web'))).rejects.toThrow('127.0.0.1')
    expect(log).toMatchObject([{ method: 'POST', status: 200, told: 0, fault: 'reset' }])
    end()
    await client.get(RESOURCES.pods, target)
  })

  test('silence is not answered, and ends with the connection', async () => {
    const client = await connect()
    await client.get(RESOURCES.pods, target)
    const end = proxy.begin({ kind: 'silent' })
    const waiting = client.get(RESOURCES.pods, target).catch((error: unknown) => String(error))
    await expect.poll(() => log.at(-1)?.fault).toBe('silent')
    end()
    expect(await waiting).toContain('127.0.0.1')
    await client.get(RESOURCES.pods, target)
  })

  test('a list is empty although the API server’s is not', async () => {
    const client = await connect()
    const end = proxy.begin({ kind: 'empty-list' })
    expect(await client.listPage(RESOURCES.pods, { limit: 0 })).toMatchObject({ items: [], resourceVersion: '9' })
    end()
    expect((await client.listPage(RESOURCES.pods, { limit: 0 })).items).toHaveLength(1)
  })

  test('a watch ends within a line', async () => {
    const { lines } = await watch()
    proxy.begin({ kind: 'truncate' })
    watching[0]?.write('0123456789')
    expect((await lines.next()).value).toBe('01234')
    await expect(lines.next()).rejects.toThrow('127.0.0.1')
  })

  test('a watch is told in its stream that its history is gone', async () => {
    const { lines } = await watch()
    proxy.begin({ kind: 'gone', inStream: true })
    expect((await lines.next()).value).toContain('"code":410')
    expect((await lines.next()).done).toBe(true)
  })

  test('a new watch is answered that its history is gone', async () => {
    proxy.begin({ kind: 'gone', inStream: false })
    await expect(watch()).rejects.toMatchObject({ statusCode: 410 })
  })
})

test('another token and another certificate are in the kubeconfig, and the old ones are good for nothing', async () => {
  const client = await connect()
  await client.get(RESOURCES.pods, target)
  const before = readFileSync(proxy.kubeconfig, 'utf8')
  proxy.rotateToken()
  proxy.rotateCertificate()
  expect(readFileSync(proxy.kubeconfig, 'utf8')).not.toBe(before)
  await expect.poll(() => client.get(RESOURCES.pods, target).catch(String)).toMatchObject({ kind: 'Pod' })
  writeFileSync(proxy.kubeconfig, before)
  const old = await connect()
  await expect(old.get(RESOURCES.pods, target)).rejects.toThrow('127.0.0.1')
})

/** Opens a watch by the client of the product. */
async function watch(): Promise<{ lines: AsyncIterator<string> }> {
  const client = await connect()
  const stop = new AbortController()
  closers.push(() => stop.abort())
  const stream = await client.watch(RESOURCES.pods, { resourceVersion: '1', timeoutSeconds: 60, signal: stop.signal })
  await expect.poll(() => watching.length).toBe(1)
  const text = async function* (): AsyncGenerator<string> {
    for await (const chunk of stream) yield chunk.toString()
  }
  return { lines: text() }
}
