import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { connect } from 'node:http2'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Agent, request } from 'undici'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { startApiserver } from '../../services/apiserver/role.ts'
import type { Apiserver } from '../../services/apiserver/role.ts'

type Json = Record<string, unknown>
type KubeObject = { metadata: Record<string, unknown>; [field: string]: unknown }
type Kubeconfig = {
  clusters: { cluster: { server: string; 'certificate-authority-data': string } }[]
  users: { user: { token: string } }[]
}

const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

/** A client of one cluster, as its kubeconfig describes it. */
class Client {
  readonly server: string
  readonly ca: string
  readonly token: string
  readonly #agent: Agent

  constructor(kubeconfig: string) {
    const { clusters, users } = parse(kubeconfig) as Kubeconfig
    this.server = clusters[0]?.cluster.server ?? ''
    this.ca = Buffer.from(clusters[0]?.cluster['certificate-authority-data'] ?? '', 'base64').toString()
    this.token = users[0]?.user.token ?? ''
    this.#agent = new Agent({ connect: { ca: this.ca }, allowH2: true })
  }

  async call(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
    const answer = await request(this.server + path, {
      method: method as 'GET',
      dispatcher: this.#agent,
      headers: { authorization: `Bearer ${this.token}`, 'content-type': 'application/json', ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await answer.body.text()
    const isJson = String(answer.headers['content-type']).startsWith('application/json')
    return { status: answer.statusCode, body: (isJson ? JSON.parse(text) : { text }) as KubeObject & Json }
  }

  /** Reads events until `enough` says so or the stream ends. */
  async watch(path: string, enough: (events: { type: string; object: KubeObject }[]) => boolean) {
    const { body } = await request(this.server + path, {
      dispatcher: this.#agent,
      headers: { authorization: `Bearer ${this.token}` },
    })
    const events: { type: string; object: KubeObject }[] = []
    let rest = ''
    for await (const chunk of body) {
      rest += String(chunk)
      const lines = rest.split('\n')
      rest = lines.pop() ?? ''
      events.push(...lines.map((line) => JSON.parse(line) as { type: string; object: KubeObject }))
      if (enough(events)) break
    }
    return events
  }

  close(): Promise<void> {
    return this.#agent.destroy()
  }
}

const configMaps = '/api/v1/namespaces/default/configmaps'
const configMap = (name: string, data: Json = {}, labels: Json = {}): Json => ({ metadata: { name, labels }, data })

describe('apiserver', () => {
  let directory: string
  let server: Apiserver
  let client: Client

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'apiserver-'))
    server = await startApiserver({
      dataDir: directory,
      clusters: { host: {}, tenant: { serviceClusterIP: 'open' } },
      bookmarkIntervalMs: 50,
      logger: silent,
    })
    client = new Client(server.kubeconfig('host'))
  })

  afterAll(async () => {
    await client.close()
    await server.close()
    rmSync(directory, { recursive: true, force: true })
  })

  it('keeps its secrets readable for the owner only', () => {
    for (const file of [
      server.kubeconfigFile('host'),
      join(directory, 'admin-token'),
      join(directory, 'tls/server.key'),
    ]) {
      expect(statSync(file).mode & 0o077).toBe(0)
    }
    expect(readFileSync(server.kubeconfigFile('host'), 'utf8')).toBe(server.kubeconfig('host'))
  })

  it('speaks HTTP/2 and HTTP/1.1 on one port', async () => {
    const session = connect(server.address.url, { ca: client.ca })
    try {
      const stream = session.request({ ':path': '/clusters/host/version' })
      const [headers] = (await once(stream, 'response')) as [Json]
      expect(headers[':status']).toBe(200)
      stream.close()
    } finally {
      session.destroy()
    }
    const agent = new Agent({ connect: { ca: client.ca }, allowH2: false })
    const answer = await request(`${client.server}/version`, { dispatcher: agent })
    expect(answer.statusCode).toBe(200)
    await answer.body.dump()
    await agent.destroy()
  })

  it('lets nobody in without the token of the cluster', async () => {
    const anonymous = await client.call('GET', '/api/v1/pods', undefined, { authorization: '' })
    expect(anonymous.status).toBe(403)
    const wrong = await client.call('GET', '/api/v1/pods', undefined, { authorization: 'Bearer nope' })
    expect(wrong.status).toBe(401)
    const other = new Client(server.kubeconfig('tenant'))
    const foreign = await client.call('GET', '/api/v1/pods', undefined, { authorization: `Bearer ${other.token}` })
    expect(foreign.status).toBe(401)
    await other.close()
    expect((await client.call('GET', '/readyz', undefined, { authorization: '' })).status).toBe(200)
  })

  it('keeps clusters apart', async () => {
    const tenant = new Client(server.kubeconfig('tenant'))
    await client.call('POST', configMaps, configMap('only-on-host'))
    expect((await tenant.call('GET', `${configMaps}/only-on-host`)).status).toBe(404)
    await tenant.close()
  })

  it('streams what happens after a list, with bookmarks', async () => {
    const list = await client.call('GET', configMaps)
    const from = String(list.body.metadata['resourceVersion'])
    const watching = client.watch(
      `${configMaps}?watch=1&allowWatchBookmarks=true&labelSelector=w&resourceVersion=${from}`,
      (events) => events.filter(({ type }) => type === 'BOOKMARK').length > 1 && events.length >= 5,
    )
    await client.call('POST', configMaps, configMap('w1', {}, { w: '1' }))
    await client.call('POST', configMaps, configMap('w2', {}, {}))
    await client.call('PUT', `${configMaps}/w2`, configMap('w2', { a: '1' }, { w: '2' }))
    await client.call('PUT', `${configMaps}/w1`, configMap('w1', { a: '1' }, {}))
    const events = await watching
    const seen = events
      .filter(({ type }) => type !== 'BOOKMARK')
      .map(({ type, object }) => `${type} ${String(object.metadata['name'])}`)
    expect(seen).toEqual(['ADDED w1', 'ADDED w2', 'DELETED w1'])
    const last = events.filter(({ type }) => type === 'BOOKMARK').at(-1)
    expect(Number(last?.object.metadata['resourceVersion'])).toBeGreaterThan(Number(from))
  })

  it('sends the state first and marks its end', async () => {
    const query = 'watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true'
    const events = await client.watch(`/api/v1/namespaces?${query}`, (all) =>
      all.some(({ type }) => type === 'BOOKMARK'),
    )
    const names = events.filter(({ type }) => type === 'ADDED').map(({ object }) => object.metadata['name'])
    expect(names).toEqual(['default', 'kube-node-lease', 'kube-public', 'kube-system'])
    expect(events.at(-1)?.object.metadata['annotations']).toEqual({ 'k8s.io/initial-events-end': 'true' })
  })

  it('answers 410 to a watch and a list from a forgotten revision', async () => {
    const { body } = await client.call('POST', configMaps, configMap('old'))
    const old = String(body.metadata['resourceVersion'])
    await client.call('DELETE', `${configMaps}/old`)
    server.compact('host', 0)
    const events = await client.watch(`${configMaps}?watch=1&resourceVersion=${old}`, (all) => all.length > 0)
    expect(events[0]?.type).toBe('ERROR')
    expect(events[0]?.object['code']).toBe(410)
    const list = await client.call('GET', `${configMaps}?resourceVersion=${old}&resourceVersionMatch=Exact`)
    expect(list.status).toBe(410)
  })

  it('runs a Deployment: its pods are made, and go when it goes', async () => {
    const labels = { app: 'web' }
    const spec = { replicas: 2, selector: { matchLabels: labels } }
    const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'img:1' }] } }
    const path = '/apis/apps/v1/namespaces/default/deployments'
    await client.call('POST', path, { metadata: { name: 'web' }, spec: { ...spec, template } })
    const pods = async (): Promise<number> => {
      const { body } = await client.call('GET', '/api/v1/namespaces/default/pods?labelSelector=app=web')
      return (body['items'] as unknown[]).length
    }
    await expect.poll(pods).toBe(2)
    const patch = { 'content-type': 'application/merge-patch+json' }
    await client.call('PATCH', `${path}/web/scale`, { spec: { replicas: 3 } }, patch)
    await expect.poll(pods).toBe(3)
    await client.call('DELETE', `${path}/web`)
    await expect.poll(pods).toBe(0)
  })

  it('empties and removes a deleted namespace', async () => {
    await client.call('POST', '/api/v1/namespaces', { metadata: { name: 'gone' } })
    await client.call('POST', '/api/v1/namespaces/gone/configmaps', configMap('a'))
    await client.call('DELETE', '/api/v1/namespaces/gone')
    await expect.poll(async () => (await client.call('GET', '/api/v1/namespaces/gone')).status).toBe(404)
    expect((await client.call('GET', '/api/v1/namespaces/gone/configmaps/a')).status).toBe(404)
  })

  it('makes and removes clusters while it runs', async () => {
    const admin = new Agent({ connect: { ca: client.ca } })
    const send = (method: string, path: string, body?: string) =>
      request(server.address.url + path, {
        method: method as 'GET',
        dispatcher: admin,
        headers: { authorization: `Bearer ${server.adminToken}` },
        ...(body === undefined ? {} : { body }),
      })
    const made = await send('PUT', '/causeway/clusters/extra', JSON.stringify({ serviceClusterIP: 'open' }))
    const extra = new Client(await made.body.text())
    const service = { metadata: { name: 's' }, spec: { ports: [{ port: 80 }] } }
    const created = await extra.call('POST', '/api/v1/namespaces/default/services', service)
    expect((created.body['spec'] as Json)['clusterIP']).toBeUndefined()
    const list = (await (await send('GET', '/causeway/clusters')).body.json()) as Json
    expect(list['clusters']).toEqual(['extra', 'host', 'tenant'])
    const started = Promise.withResolvers<void>()
    const watching = extra.watch('/api/v1/namespaces?watch=1', () => {
      started.resolve()
      return false
    })
    await started.promise
    await (await send('DELETE', '/causeway/clusters/extra')).body.dump()
    await watching
    expect((await extra.call('GET', '/api/v1/namespaces')).status).toBe(404)
    expect(existsSync(join(directory, 'clusters/extra.db'))).toBe(false)
    const denied = await request(`${server.address.url}/causeway/clusters`, { dispatcher: admin })
    expect(denied.statusCode).toBe(401)
    await denied.body.dump()
    await Promise.all([extra.close(), admin.destroy()])
  })

  it('refuses bodies that are too large', async () => {
    const { status } = await client.call('POST', configMaps, configMap('big', { k: 'x'.repeat(3_200_000) }))
    expect(status).toBe(413)
  })
})

describe('apiserver as a process', () => {
  let directory: string
  const running = new Set<ChildProcess>()

  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), 'apiserver-'))
  })

  afterAll(() => {
    for (const child of running) child.kill('SIGKILL')
    rmSync(directory, { recursive: true, force: true })
  })

  async function start(port: number) {
    const args = ['services/apiserver/main.ts', '--data-dir', directory, '--clusters', 'host', '--port', String(port)]
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] })
    running.add(child)
    child.on('exit', () => running.delete(child))
    let errors = ''
    child.stderr.on('data', (chunk) => (errors += String(chunk)))
    const ready = await Promise.race([
      once(child.stdout, 'data').then(
        ([chunk]) => JSON.parse(String(chunk)) as { port: number; kubeconfigs: Record<string, string> },
      ),
      once(child, 'exit').then(([code]) => ({ exitCode: code as number })),
    ])
    return { child, ready, errors: () => errors }
  }

  it('loses nothing it has answered when it is killed, names a taken port, and stops on SIGTERM', async () => {
    const first = await start(0)
    if (!('port' in first.ready)) throw new Error(first.errors())
    const { port, kubeconfigs } = first.ready
    const client = new Client(readFileSync(kubeconfigs['host'] ?? '', 'utf8'))
    const names = Array.from({ length: 50 }, (_, index) => `c${String(index).padStart(2, '0')}`)
    const made = await Promise.all(names.map((name) => client.call('POST', configMaps, configMap(name))))
    const newest = Math.max(...made.map(({ body }) => Number(body.metadata['resourceVersion'])))

    const second = await start(port)
    expect(second.ready).toEqual({ exitCode: 1 })
    expect(second.errors()).toContain(`port ${port}`)

    first.child.kill('SIGKILL')
    await once(first.child, 'exit')
    await client.close()
    const third = await start(port)
    const again = new Client(readFileSync(kubeconfigs['host'] ?? '', 'utf8'))
    const list = await again.call('GET', configMaps)
    const listed = (list.body['items'] as KubeObject[]).map(({ metadata }) => metadata['name'])
    expect(listed).toEqual(expect.arrayContaining(names))
    expect(Number(list.body.metadata['resourceVersion'])).toBeGreaterThanOrEqual(newest)
    const since = made[10]?.body.metadata['resourceVersion']
    const events = await again.watch(
      `${configMaps}?watch=1&resourceVersion=${String(since)}`,
      (all) => all.length >= 10,
    )
    expect(events.every(({ type }) => type === 'ADDED')).toBe(true)
    await again.close()
    third.child.kill('SIGTERM')
    const [code] = (await once(third.child, 'exit')) as [number]
    expect(code).toBe(0)
  })
})
