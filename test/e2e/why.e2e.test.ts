import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Bus, connectBus, createPublisher } from '#libs/bus'
import { encodeChange, encodePayload, partitionOf } from '#libs/events'
import {
  type Explanation,
  type Sources,
  compareSides,
  explain,
  explainHost,
  followStory,
  resourceNamed,
  storySubject,
} from '#libs/explain'
import { systemClock } from '#libs/kernel'
import { type KubeClient, createKubeClient } from '#libs/kube'
import type { KubeObject } from '#libs/kube-model'
import { lazyClusterConfig, openTenantRegistry, readTenantContext } from '#libs/runtime'
import { createVault, loadKeyRing } from '#libs/vault'
import { type Cluster, openCluster } from '../harness/cluster.ts'
import { type Installation, newFolder, startUp } from '../harness/installation.ts'
import { configMapOf, isRunning, podOf } from '../harness/objects.ts'
import { startProxy } from '../harness/proxy.ts'
import { startWebhook } from '../harness/webhook.ts'

/*
 * For each class of failure: it is made to happen, and `why` names its cause and what to do; where the tenant can be told,
 * an Event on its object says so without a name of the host, and where it is counted, the metric counts it.
 */

const POLL = { timeout: 40_000, interval: 100 }
const HOST_NAMESPACE = 'causeway-a'
/** Two ConfigMaps of tenant `a` in namespace `conflict` whose host names have the same hash. */
const COLLIDING = [
  'settings-of-an-application-whose-name-is-rather-long-5vlp',
  'settings-of-an-application-whose-name-is-rather-long-6wex',
] as const
const PARTITIONS = 8

let up: Installation
let bus: Bus
let sources: Sources
let tenant: Cluster
let host: Cluster
let folder: string
const closing: (() => Promise<unknown> | void)[] = []

beforeAll(async () => {
  folder = newFolder()
  up = await startUp({ separate: true, tenants: ['a'], args: ['--partitions', String(PARTITIONS)] })
  bus = await connectBus({ servers: up.ready.natsUrl, name: 'cli' })
  const clients = new Map<string, KubeClient>()
  const clientFor = (kubeconfig: string): KubeClient => {
    const client = clients.get(kubeconfig) ?? createKubeClient(lazyClusterConfig(kubeconfig, systemClock))
    clients.set(kubeconfig, client)
    return client
  }
  sources = {
    bus,
    registry: await openTenantRegistry(bus, 1),
    host: clientFor(up.ready.hostKubeconfig),
    clientOf: ({ kubeconfig }) => clientFor(kubeconfig),
    partitions: PARTITIONS,
    replicas: 1,
    vault: createVault(loadKeyRing(join(up.data, 'keys.json'))),
    now: () => Date.now(),
  }
  const entry = await sources.registry.get('a')
  if (entry === undefined) throw new Error('tenant a is not registered')
  const config = {
    sync: { fromHost: { runtimeClasses: { enabled: true, selector: { matchLabels: { shown: 'yes' } } } } },
    policies: { podSecurityStandard: 'baseline' },
  }
  await sources.registry.put({ ...entry, config })
  tenant = await openCluster(up.ready.kubeconfigs['a'] ?? '')
  host = await openCluster(up.ready.hostKubeconfig)
  closing.push(
    () => rmSync(folder, { recursive: true, force: true }),
    () => up.dispose(),
    () => bus.close(),
    () => Promise.all([...clients.values()].map((client) => client.close())),
    () => Promise.all([tenant.close(), host.close()]),
  )
})

afterAll(async () => {
  for (const close of closing.toReversed()) await close()
})

const ask = (kind: string, name: string, options: { namespace?: string; of?: string } = {}): Promise<Explanation> => {
  const { namespace = 'default', of = 'a' } = options
  const info = resourceNamed(kind)?.info
  if (info === undefined) throw new Error(`no kind ${kind}`)
  return explain(sources, { tenant: of, info, namespace, name })
}

/** Asks until the reason is this one. */
async function untilReason(
  kind: string,
  name: string,
  of: { reason: string; namespace?: string; of?: string },
): Promise<Explanation> {
  let last: Explanation | undefined
  await expect
    .poll(async () => {
      last = await ask(kind, name, of)
      return last.verdict.reason
    }, POLL)
    .toBe(of.reason)
  if (last === undefined) throw new Error('nothing was asked')
  return last
}

/** The Event that tells the tenant, which names nothing of the host. */
async function eventOn(name: string, reason: string, namespace = 'default'): Promise<string> {
  const isIt = (event: KubeObject): boolean =>
    (event['involvedObject'] as { name?: string } | undefined)?.name === name &&
    String(event['message']).startsWith(reason)
  const events = await tenant.untilAll('events', namespace, (found) => found.some(isIt), { timeoutMs: POLL.timeout })
  const message = String(events.find(isIt)?.['message'])
  expect(message).not.toContain(HOST_NAMESPACE)
  expect(message).not.toContain('-x-')
  return message
}

type Service = 'watcher' | 'translator' | 'writer'

/** The sum of a service's metric over all its series whose labels include these. */
async function metricOf(service: Service, name: string, labels = ''): Promise<number> {
  const text = await (await fetch(`${up.ready.health[service] ?? ''}/metrics`)).text()
  const isIt = (line: string): boolean => line.startsWith(`${name}{`) || line.startsWith(`${name} `)
  const series = text.split('\n').filter((line) => isIt(line) && line.includes(labels))
  return series.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0)
}

const metric = (name: string, labels: string): Promise<number> => metricOf('translator', name, labels)

/** Whether the tenant was told anything about an object. */
async function isTold(name: string): Promise<boolean> {
  const events = await tenant.list('events', 'default')
  return events.some((event) => (event['involvedObject'] as { name?: string } | undefined)?.name === name)
}

const crossing = (name: string, namespace = 'default'): KubeObject => {
  const object = configMapOf(namespace, name, { color: 'blue' })
  return { ...object, metadata: { ...object.metadata, annotations: { 'causeway.dev/sync': 'true' } } }
}
const copyName = (name: string, namespace = 'default'): string => `${name}-x-${namespace}-x-a`
const outcomes = (reason: string): Promise<number> =>
  metricOf('writer', 'causeway_writer_outcomes_total', `reason="${reason}"`)
const noted = (reason: string): Promise<number> => metric('causeway_translator_noted', `reason="${reason}"`)
const told = (reason: string): Promise<number> => metric('causeway_translator_events_total', `reason="${reason}"`)
const parked = (reason: string): Promise<number> => metric('causeway_translator_parked', `reason="${reason}"`)

describe('why names the cause', () => {
  test('of a kind that is off: the key, and that nobody set it', async () => {
    await tenant.create({
      apiVersion: 'networking.k8s.io/v1',
      kind: 'Ingress',
      metadata: { namespace: 'default', name: 'site' },
      spec: { defaultBackend: { service: { name: 'site', port: { number: 80 } } } },
    })
    const { verdict } = await ask('ing', 'site')
    expect(verdict).toMatchObject({ reason: 'KindOff', isInSync: false })
    expect(verdict.summary).toContain('sync.toHost.ingresses.enabled is off, by default')
    expect(verdict.remedy).toContain('tenant configure')
    const off = (): Promise<number> => metric('causeway_translator_kinds_off', 'resource="ingresses.networking.k8s.io"')
    await expect.poll(off, POLL).toBe(1)
    // Nobody watches objects of the kind, so nobody can tell of one.
    expect(await isTold('site')).toBe(false)
  })

  test('of an object that its tenant excludes', async () => {
    const pod = podOf('default', 'private')
    await tenant.create({ ...pod, metadata: { ...pod.metadata, annotations: { 'causeway.dev/sync': 'false' } } })
    const { verdict } = await untilReason('pod', 'private', { reason: 'Excluded' })
    expect(verdict.summary).toContain('annotation causeway.dev/sync is "false"')
    expect(verdict.remedy).toContain('take the annotation away')
    expect(await eventOn('private', 'Excluded')).toContain('its annotation causeway.dev/sync is "false"')
    await expect.poll(() => noted('Excluded'), POLL).toBe(1)
  })

  test('of a class that the configuration’s selector does not show, and of the pod that names it', async () => {
    const path = '/apis/node.k8s.io/v1/runtimeclasses'
    const hidden = { apiVersion: 'node.k8s.io/v1', kind: 'RuntimeClass', metadata: { name: 'hidden' }, handler: 'runc' }
    await host.client.request({ method: 'POST', path, body: hidden })
    const { verdict } = await untilReason('runtimeclass', 'hidden', { reason: 'Excluded', namespace: '' })
    expect(verdict.remedy).toContain('let the configuration select it')
    const pod = podOf('default', 'sandboxed')
    await tenant.create({ ...pod, spec: { ...(pod['spec'] as object), runtimeClassName: 'hidden' } })
    const { verdict: ofPod } = await untilReason('pod', 'sandboxed', { reason: 'UnknownClass' })
    expect(ofPod.remedy).toContain('create or show the class')
    expect(await eventOn('sandboxed', 'UnknownClass')).toContain('hidden')
    await expect.poll(() => parked('UnknownClass'), POLL).toBe(1)
    await tenant.delete('pods', { namespace: 'default', name: 'sandboxed' })
    await expect.poll(() => parked('UnknownClass'), POLL).toBe(0)
  })

  test('of a quota that is used up, with the API’s words; and the command says so with its exit status', async () => {
    const quota = { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { namespace: HOST_NAMESPACE, name: 'few' } }
    const path = `/api/v1/namespaces/${HOST_NAMESPACE}/resourcequotas`
    await host.client.request({ method: 'POST', path, body: { ...quota, spec: { hard: { services: '0' } } } })
    await tenant.create({
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { namespace: 'default', name: 'many' },
      spec: { selector: { app: 'many' }, ports: [{ port: 80 }] },
    })
    const { verdict, facts } = await untilReason('svc', 'many', { reason: 'QuotaExceeded' })
    expect(verdict.summary).toMatch(/create on the host is parked.*exceeded quota: few/)
    expect(facts.writes[0]?.outcome?.nextTry?.until).toBeGreaterThan(facts.writes[0]?.at ?? Infinity)
    expect(await eventOn('many', 'QuotaExceeded')).toContain('exceeded quota')
    expect(await outcomes('QuotaExceeded')).toBeGreaterThan(0)
    await expect.poll(() => parked('QuotaExceeded'), POLL).toBe(1)
    const { code, stdout } = await up.command('why', 'service/many', '-t', 'a')
    expect(code).toBe(1)
    expect(stdout).toMatch(/reason +QuotaExceeded/)
    expect(stdout).toMatch(/remedy +raise the quota/)
    await host.client.request({ method: 'DELETE', path: `${path}/few` })
    await untilReason('svc', 'many', { reason: 'InSync' })
  })

  test('of a refusal by an admission webhook, with its words', async () => {
    const hook = await startWebhook('denied-')
    closing.push(() => hook.stop())
    await host.client.request({
      method: 'POST',
      path: '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations',
      body: hook.configuration,
    })
    await tenant.create(crossing('denied-one'))
    const { verdict } = await untilReason('cm', 'denied-one', { reason: 'AdmissionDenied' })
    expect(verdict.summary).toContain('denied the request: not on a Friday')
    expect(verdict.remedy).toContain('policy of the host')
    expect(await eventOn('denied-one', 'AdmissionDenied')).toContain('not on a Friday')
    expect(await outcomes('AdmissionDenied')).toBeGreaterThan(0)
  })

  test('of a refusal by the tenant’s own policy', async () => {
    // The configuration that names the policy also asks for this kind.
    await expect.poll(async () => (await ask('runtimeclass', 'no-such')).facts.seen.host.isListed, POLL).toBe(true)
    const pod = podOf('default', 'rooted')
    const volumes = [{ name: 'root', hostPath: { path: '/' } }]
    await tenant.create({ ...pod, spec: { ...(pod['spec'] as object), volumes } })
    const { verdict } = await untilReason('pod', 'rooted', { reason: 'PolicyRejected' })
    expect(verdict.summary).toContain('hostPath volumes')
    expect(verdict.remedy).toContain('podSecurityStandard')
    expect(await eventOn('rooted', 'PolicyRejected')).toContain('hostPath')
    await expect.poll(() => parked('PolicyRejected'), POLL).toBe(1)
  })

  test('of a name that an object of the host holds, from either side', async () => {
    await host.create(configMapOf(HOST_NAMESPACE, copyName('taken'), { of: 'somebody else' }))
    await tenant.create(crossing('taken'))
    const { verdict } = await untilReason('cm', 'taken', { reason: 'ForeignObject' })
    expect(verdict.remedy).toContain('on the host')
    await eventOn('taken', 'ForeignObject')
    expect(await outcomes('ForeignObject')).toBeGreaterThan(0)
    const info = resourceNamed('cm')?.info
    if (info === undefined) throw new Error('no ConfigMaps')
    const there = await explainHost(sources, { info, namespace: HOST_NAMESPACE, name: copyName('taken') })
    expect(there.verdict).toMatchObject({ reason: 'NotOurs', summary: expect.stringContaining('no stamps') })
  })

  test('of a host name that another object of the tenant has', async () => {
    const [first, second] = COLLIDING
    await tenant.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'conflict' } })
    await tenant.create(crossing(first, 'conflict'))
    await untilReason('cm', first, { reason: 'InSync', namespace: 'conflict' })
    await tenant.create(crossing(second, 'conflict'))
    const { verdict } = await untilReason('cm', second, { reason: 'NameConflict', namespace: 'conflict' })
    expect(verdict.remedy).toContain('rename one')
    await eventOn(second, 'NameConflict', 'conflict')
    await expect.poll(() => parked('NameConflict'), POLL).toBe(1)
    await untilReason('cm', first, { reason: 'InSync', namespace: 'conflict' })
  })

  test('of a pod that waits for what it refers to: a class, or a ConfigMap', async () => {
    await expect.poll(async () => (await ask('runtimeclass', 'no-such')).facts.seen.host.isListed, POLL).toBe(true)
    const pod = podOf('default', 'important')
    await tenant.create({ ...pod, spec: { ...(pod['spec'] as object), runtimeClassName: 'no-such' } })
    const unknown = await untilReason('pod', 'important', { reason: 'UnknownClass' })
    expect(unknown.verdict.summary).toContain('no-such')
    expect(await eventOn('important', 'UnknownClass')).toContain('no-such')
    await expect.poll(() => parked('UnknownClass'), POLL).toBe(1)

    await tenant.create(podOf('default', 'configured', { configMap: 'not-there' }))
    const missing = await untilReason('pod', 'configured', { reason: 'MissingReference' })
    expect(missing.verdict.summary).toContain('configmaps/not-there')
    expect(missing.verdict.remedy).toContain('create what is missing')
    expect(await eventOn('configured', 'MissingReference')).toContain('configmaps/not-there')
    await expect.poll(() => noted('MissingReference'), POLL).toBe(1)
    await tenant.create(configMapOf('default', 'not-there', {}))
    await untilReason('pod', 'configured', { reason: 'InSync' })
    await expect.poll(() => noted('MissingReference'), POLL).toBe(0)
  })

  test('of a copy that was deleted by hand on the host', async () => {
    await tenant.create(podOf('default', 'victim'))
    await tenant.until('pods', { namespace: 'default', name: 'victim' }, isRunning)
    const { verdict: before, facts } = await untilReason('pod', 'victim', { reason: 'InSync' })
    expect(before.isInSync).toBe(true)
    expect(
      facts.writes.find(({ op, side }) => op === 'create' && side === 'host')?.outcome?.stages.total,
    ).toBeGreaterThan(0)
    await host.delete('pods', { namespace: HOST_NAMESPACE, name: copyName('victim') })
    await tenant.untilGone('pods', { namespace: 'default', name: 'victim' })
    const { verdict } = await untilReason('pod', 'victim', { reason: 'DeletedOnHost' })
    expect(verdict.summary).toMatch(/host.*so the tenant’s was deleted/)
    expect(verdict.remedy).toContain('who deletes on the host')
    expect(await eventOn('victim', 'DeletedOnHost')).toContain('so this one is deleted as well')
    expect(await told('DeletedOnHost')).toBe(1)
    expect(await metric('causeway_translator_copies_lost_total', 'resource="pods",result="deleted"')).toBe(1)
    const info = resourceNamed('pod')?.info
    if (info === undefined) throw new Error('no pods')
    const there = await explainHost(sources, { info, namespace: HOST_NAMESPACE, name: copyName('victim') })
    expect(there).toMatchObject({
      owner: { tenant: 'a', ref: { namespace: 'default', name: 'victim' }, by: 'the log' },
      verdict: { reason: 'DeletedOnHost' },
    })
  })

  test('of a copy that is made again, the Event says that somebody deleted it on the host', async () => {
    await tenant.create(crossing('restored'))
    await untilReason('cm', 'restored', { reason: 'InSync' })
    const place = { namespace: HOST_NAMESPACE, name: copyName('restored') }
    const { uid } = (await host.get('configmaps', place)).metadata
    await host.delete('configmaps', place)
    await host.until('configmaps', place, ({ metadata }) => metadata.uid !== uid, { timeoutMs: POLL.timeout })
    expect(await eventOn('restored', 'DeletedOnHost')).toContain('it is made again')
    expect(await metric('causeway_translator_copies_lost_total', 'resource="configmaps",result="created"')).toBe(1)
    await untilReason('cm', 'restored', { reason: 'InSync' })
  })

  test('of an object that was never created, and of a tenant that there is not', async () => {
    expect((await ask('pod', 'nothing')).verdict).toMatchObject({ reason: 'NotFound', isInSync: false })
    expect((await ask('pod', 'nothing', { of: 'nobody' })).verdict.reason).toBe('TenantUnknown')
    const { code, stdout } = await up.command('why', 'po/nothing', '-t', 'a', '--json')
    expect(code).toBe(1)
    expect(JSON.parse(stdout)).toMatchObject({
      verdict: { reason: 'NotFound' },
      object: { kind: 'Pod', name: 'nothing' },
    })
    // There is nothing to tell of, and nothing to count.
    expect(await isTold('nothing')).toBe(false)
  })

  test('of a message in the log that cannot be read', async () => {
    await tenant.create(crossing('garbled'))
    await untilReason('cm', 'garbled', { reason: 'InSync' })
    const key = { tenant: 'a', side: 'virtual', resource: 'configmaps', namespace: 'default', name: 'garbled' } as const
    const partition = partitionOf('a', PARTITIONS)
    const head = {
      type: 'MODIFIED',
      key,
      kind: 'ConfigMap',
      uid: 'u',
      resourceVersion: 'x',
      epoch: 1,
      observedAt: 0,
    } as const
    const publisher = createPublisher(bus)
    await publisher.publish(encodeChange(head, { partition, payload: encodePayload('no watch event') }))
    const { verdict } = await untilReason('cm', 'garbled', { reason: 'PoisonMessage' })
    expect(verdict.summary).toContain('holds no watch event')
    expect(verdict.remedy).toContain('logs of translator')
    expect(await eventOn('garbled', 'PoisonMessage')).toContain('ask the operator')
    expect(await metric('causeway_translator_poison_total', 'stage="fold"')).toBe(1)
    await expect.poll(() => parked('PoisonMessage'), POLL).toBe(1)
    // The next state of the object is read as ever.
    await tenant.patch('configmaps', { namespace: 'default', name: 'garbled' }, { data: { color: 'red' } })
    await untilReason('cm', 'garbled', { reason: 'InSync' })
    await expect.poll(() => parked('PoisonMessage'), POLL).toBe(0)
  })

  test('of a tenant whose API does not answer, or does not take its token', async () => {
    await up.command('tenant', 'create', 'apart')
    const entry = await sources.registry.get('apart')
    if (entry === undefined) throw new Error('tenant apart was not made')
    const proxy = await startProxy(entry.kubeconfig, folder)
    closing.push(() => proxy.stop())
    await sources.registry.put({ ...entry, kubeconfig: proxy.kubeconfig })
    await untilReason('pod', 'web', { reason: 'NotFound', of: 'apart' })
    await proxy.stop()
    const down = await untilReason('pod', 'web', { reason: 'ApiUnavailable', of: 'apart' })
    expect(down.verdict.summary).toMatch(/tenant apart does not answer/)
    expect(down.verdict.remedy).toContain('once it answers')
    const unfollowed = (state: string): Promise<number> =>
      metricOf('watcher', 'causeway_watcher_watches', `side="virtual",state="${state}"`)
    const ofTenant = (name: string): Promise<number> =>
      metricOf('watcher', 'causeway_tenant_unwatched_kinds', `tenant="${name}"`)
    await expect.poll(() => unfollowed('unreachable'), POLL).toBeGreaterThan(0)
    await expect.poll(() => ofTenant('apart'), POLL).toBeGreaterThan(0)

    const wrong = join(folder, 'wrong.yaml')
    writeFileSync(wrong, readFileSync(entry.kubeconfig, 'utf8').replace(/token: .*/, 'token: wrong'))
    await sources.registry.put({ ...entry, name: 'rejected', uid: 'rejected', kubeconfig: wrong })
    const rejected = await untilReason('pod', 'web', { reason: 'Unauthorized', of: 'rejected' })
    expect(rejected.verdict.summary).toContain('credentials for tenant rejected are not accepted')
    expect(rejected.verdict.remedy).toContain('renew the kubeconfig')
    await expect.poll(() => unfollowed('unauthorized'), POLL).toBeGreaterThan(0)
    await expect.poll(() => ofTenant('rejected'), POLL).toBeGreaterThan(0)
  })

  test('of a writer that does not work: who is missing, and since when the intents wait', async () => {
    const pid = up.pids()['writer'] ?? 0
    process.kill(pid, 'SIGSTOP')
    try {
      await tenant.create(crossing('late'))
      const { verdict } = await untilReason('cm', 'late', { reason: 'WriterStopped' })
      expect(verdict.summary).toMatch(/^no writer owns partition \d: the intents wait since \d{4}-/)
      expect(verdict.remedy).toContain('start a writer')
      await expect.poll(() => metric('causeway_partitions_unowned', 'role="writer"'), POLL).toBe(PARTITIONS)
      await expect.poll(() => metric('causeway_translator_unanswered_seconds', ''), POLL).toBeGreaterThan(0)
    } finally {
      process.kill(pid, 'SIGCONT')
    }
    await untilReason('cm', 'late', { reason: 'InSync' })
    await expect.poll(() => metric('causeway_partitions_unowned', 'role="writer"'), POLL).toBe(0)
    // Whoever could have told of it is the writer, and by then there is nothing to tell.
    expect(await isTold('late')).toBe(false)
  })
})

test('diff explains what differs, and trace tells its story', async () => {
  const { code, stdout } = await up.command('diff', '-t', 'a', 'cm', '--json')
  const { differences } = JSON.parse(stdout) as { differences: { ref: { name: string }; reason: string }[] }
  expect(code).toBe(1)
  const reasons = Object.fromEntries(differences.map(({ ref, reason }) => [ref.name, reason]))
  expect(reasons).toMatchObject({ 'denied-one': 'AdmissionDenied', taken: 'ForeignObject' })
  expect(reasons).not.toHaveProperty('late')
  const story = await up.command('trace', 'cm/taken', '-t', 'a')
  expect(story.code).toBe(0)
  expect(story.stdout).toMatch(/tenant +ADDED[^]*host +intent +create[^]*host +parked +create – ForeignObject/)
  const services = await compareSides(sources, { tenant: 'a', info: resourceNamed('svc')?.info })
  expect(services).toMatchObject({ resources: ['services'], differences: [], unread: [] })
})

test('who follows a story sees what comes, and whose doing it was', async () => {
  await tenant.create(crossing('followed'))
  await untilReason('cm', 'followed', { reason: 'InSync' })
  const { context } = readTenantContext(await sources.registry.get('a'))
  if (context === undefined) throw new Error('tenant a is not registered')
  const about = storySubject(context, { resource: 'configmaps', namespace: 'default', name: 'followed' }, sources)
  const stop = AbortSignal.timeout(POLL.timeout)
  const before = Date.now()
  const seen: string[] = []
  await tenant.patch('configmaps', { namespace: 'default', name: 'followed' }, { data: { color: 'green' } })
  for await (const entry of followStory(sources, about, { since: before, signal: stop })) {
    const own = entry.kind === 'change' && entry.writtenBy !== undefined
    seen.push(`${entry.side} ${entry.kind}${own ? ', our own' : ''}`)
    if (own) break
  }
  expect(seen.slice(0, 2)).toEqual(['virtual change', 'host intent'])
  expect(seen.at(-1)).toBe('host change, our own')
})
