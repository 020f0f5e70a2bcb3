import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import Sqlite from 'better-sqlite3'
import { type Bus, connectBus } from '#libs/bus'
import { STREAMS, partitionOf } from '#libs/events'
import type { KubeObject } from '#libs/kube-model'
import { openWaitingReports, waitingKey } from '#libs/runtime'
import { type Cluster, openCluster } from '../harness/cluster.ts'
import { type CommandResult, type Installation, startUp } from '../harness/installation.ts'
import { configMapOf, podOf } from '../harness/objects.ts'

/* What waits, from an operator's chair: seen, tried, dropped, patrolled, and told by exit statuses. */

const POLL = { timeout: 60_000, interval: 200 }
/** More than a command waits for a translator. */
const LONG = { timeout: 90_000, interval: 200 }
const PARTITIONS = 2
const PARTITION = partitionOf('a', PARTITIONS)
const COPY = { namespace: 'causeway-a', name: 'api-x-default-x-a' }
const QUOTAS = '/api/v1/namespaces/causeway-a/resourcequotas'

let up: Installation
let bus: Bus
let tenant: Cluster
let host: Cluster

beforeAll(async () => {
  up = await startUp({ separate: true, tenants: ['a'], args: ['--partitions', String(PARTITIONS), '--nodes', '1'] })
  bus = await connectBus({ servers: up.ready.natsUrl, name: 'test' })
  tenant = await openCluster(up.ready.kubeconfigs['a'] ?? '')
  host = await openCluster(up.ready.hostKubeconfig)
})

afterAll(async () => {
  await tenant?.close()
  await host?.close()
  await bus?.close()
  await up?.dispose()
})

const run = (...args: string[]): Promise<CommandResult> => up.command(...args, '-t', 'a')

/** What of the tenant waits, as its translator tells. */
async function waiting(): Promise<string[]> {
  const told = await (await openWaitingReports(bus, 1)).get(waitingKey('a'))
  return (told?.value.objects ?? []).map(({ name, reason }) => `${name} ${reason}`)
}

test('all is in order at first, and status says so', async () => {
  await expect
    .poll(() => up.command('status'), POLL)
    .toMatchObject({
      code: 0,
      stdout: expect.stringMatching(new RegExp(`${PARTITION} +translator +\\d+`)),
    })
})

test('what a quota refuses is listed and explained', async () => {
  const quota = { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { namespace: 'causeway-a', name: 'small' } }
  await host.client.request({ method: 'POST', path: QUOTAS, body: { ...quota, spec: { hard: { services: '0' } } } })
  await tenant.create({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { namespace: 'default', name: 'api' },
    spec: { ports: [{ port: 80 }], selector: { app: 'api' } },
  })
  await expect.poll(waiting, POLL).toEqual(['api QuotaExceeded'])
  const [listed, shown, status] = await Promise.all([
    run('parked', 'list'),
    run('parked', 'show', 'svc/api'),
    up.command('status'),
  ])
  expect(listed).toMatchObject({ code: 1, stdout: expect.stringMatching(/services\/default\/api +QuotaExceeded/) })
  expect(shown.stdout).toMatch(/reason +QuotaExceeded\n +answer .*exceeded quota: small.*\n +since .*\n +attempts +\d/)
  expect(shown).toMatchObject({ code: 1, stdout: expect.stringMatching(/remedy +raise the quota/) })
  expect(status).toMatchObject({ code: 1, stdout: expect.stringContaining('exceeded quota: small') })
})

test('what is dropped stays so over a restart of the translator; a retry has it run', async () => {
  expect(await run('parked', 'drop', 'svc/api')).toMatchObject({ code: 2, stderr: expect.stringContaining('--yes') })
  expect(await run('parked', 'drop', 'svc/api', '--yes')).toMatchObject({ code: 0 })
  const { translator = 0 } = up.pids()
  process.kill(translator, 'SIGKILL')
  await host.client.request({ method: 'DELETE', path: `${QUOTAS}/small` })
  // By then the new translator has decided about everything. Until it is there, nobody answers.
  let patrol: CommandResult | undefined
  await expect
    .poll(async () => {
      patrol = await run('patrol', 'run')
      return patrol.code
    }, LONG)
    .not.toBe(3)
  expect(patrol).toMatchObject({ code: 0 })
  const [shown, why, listed, status] = await Promise.all([
    run('parked', 'show', 'svc/api'),
    run('why', 'svc/api'),
    run('parked', 'list'),
    up.command('status'),
  ])
  expect(shown).toMatchObject({ code: 1, stdout: expect.stringMatching(/next try +none, dropped /) })
  expect(why).toMatchObject({ code: 1, stdout: expect.stringContaining('dropped by the operator') })
  expect(listed).toMatchObject({ code: 0, stdout: expect.stringMatching(/default\/api +QuotaExceeded .* dropped /) })
  expect(status.stdout).toContain('1 dropped by the operator')
  await host.untilGone('services', COPY)
  expect(await run('parked', 'retry', '--reason', 'QuotaExceeded')).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('1 object tried'),
  })
  await host.until('services', COPY, () => true, { timeoutMs: 60_000 })
  await expect.poll(waiting, POLL).toEqual([])
})

test('what was rejected before any write is dropped as well, and its retry ends that', async () => {
  const pod = podOf('default', 'odd')
  const term = { topologyKey: 'zone', namespaces: ['default'], namespaceSelector: { matchLabels: { a: 'b' } } }
  const affinity = { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } }
  await tenant.create({ ...pod, spec: { ...(pod['spec'] as object), affinity } })
  await expect.poll(waiting, POLL).toEqual(['odd Unsupported'])
  expect(await run('parked', 'drop', 'pod/odd', '--yes')).toMatchObject({ code: 0 })
  const [shown, listed] = await Promise.all([run('parked', 'show', 'pod/odd'), run('parked', 'list')])
  expect(shown).toMatchObject({ code: 1, stdout: expect.stringMatching(/next try +none, dropped /) })
  expect(listed).toMatchObject({ code: 0, stdout: expect.stringMatching(/odd +Unsupported .* dropped /) })
  expect(await run('parked', 'retry', 'pod/odd')).toMatchObject({ code: 0 })
  await expect.poll(() => run('parked', 'list'), POLL).toMatchObject({ code: 1 })
  await tenant.delete('pods', { namespace: 'default', name: 'odd' })
  await expect.poll(waiting, POLL).toEqual([])
})

test('a patrol repairs what the translator has forgotten, and says what', async () => {
  await tenant.create(podOf('default', 'user', { configMap: 'late' }))
  const isWaiting = ({ status }: KubeObject): boolean => JSON.stringify(status ?? {}).includes('ContainerCreating')
  await tenant.until('pods', { namespace: 'default', name: 'user' }, isWaiting, { timeoutMs: 60_000 })
  // What the pod has become is known by then: later changes of it would bring back what is forgotten now.
  expect(await run('patrol', 'run')).toMatchObject({ code: 0 })
  forget("DELETE FROM refs WHERE to_resource = 'configmaps' AND to_name = 'late'")
  await tenant.create(configMapOf('default', 'late', { color: 'blue' }))
  await expect.poll(() => seen('late'), POLL).toBe(true)
  const found = await run('patrol', 'run')
  expect(found).toMatchObject({ code: 1, stdout: expect.stringMatching(/1 write missing, asked for now\n +1 +create/) })
  await host.until('configmaps', { namespace: 'causeway-a', name: 'late-x-default-x-a' }, () => true, {
    timeoutMs: 60_000,
  })
  expect(await up.command('patrol', 'run')).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(
      /patrol of all tenants: [1-9]\d* lists compared, no watch has lost anything; \d+ objects looked at, nothing to repair/,
    ),
  })
})

/** Makes the translator forget something, between two of its transactions. */
function forget(statement: string): void {
  const database = new Sqlite(join(up.data, 'services', `projection-${PARTITIONS}-${PARTITION}.sqlite`))
  try {
    expect(database.prepare(statement).run().changes).toBe(1)
  } finally {
    database.close()
  }
}

/** Whether the log has a ConfigMap of the tenant. */
async function seen(name: string): Promise<boolean> {
  const subject = `change.${PARTITION}.a.virtual.configmaps.default.${name}`
  const message = await bus.manager.streams.getMessage(STREAMS.changes, { last_by_subj: subject })
  return message !== null
}
