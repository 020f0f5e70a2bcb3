import { rmSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { type KubeObject, RESOURCES, type ResourceInfo } from '#libs/kube-model'
import { createServerCredential } from '../../services/apiserver/tls/certificate.ts'
import { type Installation, newFolder, startUp } from '../harness/installation.ts'
import { configMapOf, isRunning, podOf, unique } from '../harness/objects.ts'
import { type Spawned, startScript } from '../harness/process.ts'
import { type SidesView, type Tenant, openView } from '../harness/world.ts'

const QUOTAS: ResourceInfo = { ...RESOURCES.pods, plural: 'resourcequotas', kind: 'ResourceQuota' }
const WEBHOOKS: ResourceInfo = {
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  plural: 'validatingwebhookconfigurations',
  kind: 'ValidatingWebhookConfiguration',
  namespaced: false,
}

let up: Installation
let sides: SidesView
let apart: Apart
/** Whose pods must run whatever is wrong with `bad`. */
let neighbour: Tenant
let bad: Tenant
const cleanups: (() => unknown)[] = []

beforeAll(async () => {
  apart = await startApart()
  up = await startUp({ separate: false, tenants: ['a', 'b', `apart=${apart.kubeconfig}`] })
  const { host = '', ...tenants } = up.ready.kubeconfigs
  sides = await openView({ host, tenants })
  ;[neighbour, bad] = sides.tenants
})
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup()
})
afterAll(async () => {
  await sides?.close()
  await up?.dispose()
  await apart?.close()
})

type Apart = { kubeconfig: string; process: Spawned; close(): Promise<void> }

/** A tenant's API server in a process of its own. */
async function startApart(): Promise<Apart> {
  const data = newFolder()
  const args = ['--data-dir', data, '--clusters', 'apart:open', '--log-level', 'warn']
  const server = startScript('services/apiserver/main.ts', args)
  await server.firstLine
  return {
    kubeconfig: join(data, 'kubeconfigs', 'apart.yaml'),
    process: server,
    close: async () => {
      await server.end('SIGKILL')
      rmSync(data, { recursive: true, force: true })
    },
  }
}

/** A new pod of a tenant runs. */
async function expectToRun(tenant: Tenant): Promise<void> {
  const ref = { namespace: 'default', name: unique('web') }
  await tenant.cluster.create(podOf(ref.namespace, ref.name))
  await tenant.cluster.until('pods', ref, isRunning)
  await tenant.cluster.delete('pods', ref, { gracePeriodSeconds: 0 })
}

/** Resolves when a tenant has been told that an object waits for a reason. */
async function told(tenant: Tenant, namespace: string, name: string, reason: string): Promise<void> {
  await tenant.cluster.untilAll('events', namespace, (events) =>
    events.some(
      (event) =>
        (event['involvedObject'] as { name?: string }).name === name && String(event['message']).includes(reason),
    ),
  )
}

describe('a neighbour’s pods run while', () => {
  test('a tenant’s API accepts connections and never answers; it is served again when it does', async () => {
    const tenant = sides.tenants[2]
    if (tenant === undefined) throw new Error('no tenant lives apart')
    await expectToRun(tenant)
    const name = unique('hung')
    await tenant.cluster.create(podOf('default', name))
    apart.process.signal('SIGSTOP')
    try {
      for (let round = 0; round < 3; round++) await expectToRun(neighbour)
    } finally {
      apart.process.signal('SIGCONT')
    }
    const pod = await tenant.cluster.until('pods', { namespace: 'default', name }, isRunning, { timeoutMs: 60_000 })
    expect(pod.metadata.name).toBe(name)
  })

  test('another’s ConfigMap is as large as the API takes it, and it crosses', async () => {
    const namespace = await bad.namespace()
    const data = { blob: 'x'.repeat(700_000), more: 'ü'.repeat(170_000) }
    const annotations = { 'tests.example.com/more': 'y'.repeat(240_000) }
    const big = configMapOf(namespace, 'big', data)
    await bad.cluster.create({ ...big, metadata: { ...big.metadata, annotations } })
    await bad.cluster.create(podOf(namespace, 'uses', { configMap: 'big' }))
    await expectToRun(neighbour)
    const copy = await sides.host.until('configmaps', bad.copyOf({ namespace, name: 'big' }), () => true)
    expect(copy['data']).toEqual(data)
  })

  test('a pod’s status has two thousand containers and a long message; the tenant sees what is its pod’s', async () => {
    const namespace = await bad.namespace()
    await bad.cluster.create(podOf(namespace, 'many'))
    const before = await bad.cluster.until('pods', { namespace, name: 'many' }, isRunning)
    const { containerStatuses: own } = before['status'] as { containerStatuses: object[] }
    const others = Array.from({ length: 2_000 }, (_, index) => ({ ...own[0], name: `container-${index}` }))
    const message = 'm'.repeat(300_000)
    const status = { message, containerStatuses: [...own, ...others] }
    const copy = bad.copyOf({ namespace, name: 'many' })
    await sides.host.client.patch(RESOURCES.pods, copy, { status }, { type: 'merge', subresource: 'status' })
    await expectToRun(neighbour)
    const isShown = (pod: KubeObject): boolean => (pod['status'] as { message?: string }).message === message
    const pod = await bad.cluster.until('pods', { namespace, name: 'many' }, isShown)
    expect(pod['status']).toMatchObject({ containerStatuses: own })
  })

  test('a copy has a finalizer that nobody takes off, and other pods of its tenant run, too', async () => {
    const namespace = await bad.namespace()
    await bad.cluster.create(podOf(namespace, 'stuck'))
    await bad.cluster.until('pods', { namespace, name: 'stuck' }, isRunning)
    const copy = bad.copyOf({ namespace, name: 'stuck' })
    await sides.host.patch('pods', copy, { metadata: { finalizers: ['tests.example.com/never'] } })
    await bad.cluster.delete('pods', { namespace, name: 'stuck' })
    await sides.host.until('pods', copy, ({ metadata }) => metadata.deletionTimestamp !== undefined)
    await expectToRun(neighbour)
    await expectToRun(bad)
    await sides.host.patch('pods', copy, { metadata: { finalizers: null } })
    await bad.cluster.untilGone('pods', { namespace, name: 'stuck' })
    expect(await sides.host.find('pods', copy)).toBeUndefined()
  })

  test('one object changes as often as the API takes it, and its last state crosses', async () => {
    const namespace = await bad.namespace()
    const ref = { namespace, name: 'hot' }
    await bad.cluster.create(configMapOf(namespace, 'hot', { n: '0' }))
    await bad.cluster.create(podOf(namespace, 'uses', { configMap: 'hot' }))
    let n = 0
    let isOver = false
    const changing = Array.from({ length: 4 }, async () => {
      while (!isOver) await bad.cluster.patch('configmaps', ref, { data: { n: String(++n) } })
    })
    try {
      for (let round = 0; round < 3; round++) await expectToRun(neighbour)
    } finally {
      isOver = true
      await Promise.all(changing)
    }
    const last = (await bad.cluster.get('configmaps', ref))['data']
    const isLast = (copy: KubeObject): boolean => JSON.stringify(copy['data']) === JSON.stringify(last)
    const copy = await sides.host.until('configmaps', bad.copyOf(ref), isLast)
    expect(copy['data']).toEqual(last)
  })
})

describe('what waits runs once its cause has gone:', () => {
  test('a quota that is full, when a pod is deleted', async () => {
    const namespace = await bad.namespace()
    await bad.cluster.create(podOf(namespace, 'first', { graceSeconds: 0 }))
    await bad.cluster.until('pods', { namespace, name: 'first' }, isRunning)
    const used = (await sides.host.list('pods', bad.hostNamespace)).length
    await setQuota(used)
    const names = ['second', 'third', 'fourth']
    for (const name of names) await bad.cluster.create(podOf(namespace, name, { graceSeconds: 0 }))
    for (const name of names) await told(bad, namespace, name, 'QuotaExceeded')
    await expectToRun(neighbour)
    await bad.cluster.delete('pods', { namespace, name: 'first' }, { gracePeriodSeconds: 0 })
    const running = (pods: KubeObject[]): number => pods.filter(isRunning).length
    await bad.cluster.untilAll('pods', namespace, (pods) => running(pods) === 1)
    await setQuota(used + 10)
    const pods = await bad.cluster.untilAll('pods', namespace, (all) => running(all) === names.length)
    expect(new Set(pods.map(({ metadata }) => metadata.name))).toEqual(new Set(names))
  })

  test('a webhook that refuses, when it is deleted', async () => {
    const namespace = await bad.namespace()
    await refuseIn(bad.hostNamespace)
    const names = Array.from({ length: 5 }, (_, index) => `pod-${index}`)
    for (const name of names) await bad.cluster.create(podOf(namespace, name))
    for (const name of names) await told(bad, namespace, name, 'AdmissionDenied')
    await expectToRun(neighbour)
    for (const cleanup of cleanups.splice(0)) await cleanup()
    const pods = await bad.cluster.untilAll('pods', namespace, (all) => all.every(isRunning))
    expect(pods.length).toBe(names.length)
  })

  test('another’s object of the same name, when it is deleted', async () => {
    const namespace = await bad.namespace()
    const copy = bad.copyOf({ namespace, name: 'web' })
    await sides.host.create(podOf(copy.namespace, copy.name, { graceSeconds: 0 }))
    await bad.cluster.create(podOf(namespace, 'web'))
    await told(bad, namespace, 'web', 'ForeignObject')
    await expectToRun(neighbour)
    await sides.host.delete('pods', copy, { gracePeriodSeconds: 0 })
    const pod = await bad.cluster.until('pods', { namespace, name: 'web' }, isRunning)
    expect((await sides.host.get('pods', copy)).metadata.annotations?.['causeway.dev/uid']).toBe(pod.metadata.uid)
  })

  test('a host namespace that is missing, when it is made', async () => {
    const namespace = await bad.namespace()
    await sides.host.delete('namespaces', { name: bad.hostNamespace })
    await sides.host.untilGone('namespaces', { name: bad.hostNamespace }, { timeoutMs: 60_000 })
    const names = ['one', 'two']
    for (const name of names) await bad.cluster.create(podOf(namespace, name))
    for (const name of names) await told(bad, namespace, name, 'NamespaceMissing')
    await expectToRun(neighbour)
    await sides.host.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: bad.hostNamespace } })
    const pods = await bad.cluster.untilAll('pods', namespace, (all) => all.length > 0 && all.every(isRunning))
    expect(pods.length).toBe(names.length)
  })
})

/** Lets the tenant have so many pods on the host, and waits until that is in force. */
async function setQuota(pods: number): Promise<void> {
  const { client } = sides.host
  const at = { namespace: bad.hostNamespace, name: 'pods' }
  const spec = { hard: { pods: String(pods) } }
  if (pods > 0 && cleanups.length > 0) {
    await client.patch(QUOTAS, at, { spec }, { type: 'merge' })
    return
  }
  const quota = { apiVersion: 'v1', kind: 'ResourceQuota', metadata: at, spec }
  const { metadata } = await client.create(QUOTAS, { namespace: at.namespace }, quota)
  cleanups.push(() => client.delete(QUOTAS, at, { uid: metadata.uid ?? '' }))
  const isInForce = async (): Promise<boolean> => (await client.get(QUOTAS, at))['status'] !== undefined
  await expect.poll(isInForce, { timeout: 30_000 }).toBe(true)
}

/** Has a webhook refuse every new pod of a host namespace, until the cleanup. */
async function refuseIn(namespace: string): Promise<void> {
  const credential = createServerCredential({ hosts: ['127.0.0.1'], now: Date.now(), days: 1 })
  const { certificate: cert, key } = credential.server
  const server = createServer({ cert, key }, (request, response) => {
    let text = ''
    request.on('data', (part) => (text += String(part)))
    request.on('end', () => {
      const { uid } = (JSON.parse(text) as { request: { uid: string } }).request
      response.end(JSON.stringify({ response: { uid, allowed: false, status: { message: 'not today' } } }))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const metadata = { name: 'refuses' }
  const made = await sides.host.client.create(
    WEBHOOKS,
    {},
    {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingWebhookConfiguration',
      metadata,
      webhooks: [
        {
          name: 'refuses.tests.example.com',
          admissionReviewVersions: ['v1'],
          sideEffects: 'None',
          clientConfig: {
            url: `https://127.0.0.1:${(server.address() as AddressInfo).port}/`,
            caBundle: Buffer.from(credential.authority).toString('base64'),
          },
          namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } },
          rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] }],
        },
      ],
    },
  )
  cleanups.push(async () => {
    await sides.host.client.delete(WEBHOOKS, metadata, { uid: made.metadata.uid ?? '' })
    server.close()
  })
}
