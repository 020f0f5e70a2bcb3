import { cpSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { KubeObject } from '#libs/kube-model'
import { type Installation, startUp } from '../harness/installation.ts'
import { isRunning, podOf } from '../harness/objects.ts'
import { type SidesView, openView } from '../harness/world.ts'

/* What becomes of the other side when very many objects are gone at once. On embedded clusters: their stores are put back. */

const WAIT = { timeoutMs: 60_000 }
const POLL = { timeout: 60_000, interval: 200 }
const MANY = 80
const FEW = 12

let up: Installation
let sides: SidesView
beforeAll(async () => {
  up = await startUp({ separate: false, tenants: ['a', 'b'] })
  await open()
})
afterAll(async () => {
  await sides?.close()
  await up?.dispose()
})

async function open(): Promise<void> {
  const { host: _host, ...tenants } = up.ready.kubeconfigs
  sides = await openView({ host: up.ready.hostKubeconfig, tenants })
}

/** Stops all, lets something happen to the clusters' stores, and starts again. */
async function whileStopped(happens: () => void): Promise<void> {
  await sides.close()
  expect(await up.stop()).toMatchObject({ code: 0 })
  happens()
  up = await up.restart()
  await open()
}

const stores = (): string => join(up.data, 'apiserver', 'clusters')
const copies = (): string => join(up.data, 'earlier')

function keep(): void {
  mkdirSync(copies())
  cpSync(stores(), copies(), { recursive: true })
}

function putBack(cluster: string): void {
  const files = (folder: string): string[] => readdirSync(folder).filter((name) => name.startsWith(`${cluster}.db`))
  for (const file of files(stores())) rmSync(join(stores(), file))
  for (const file of files(copies())) cpSync(join(copies(), file), join(stores(), file))
}

const serviceOf = (namespace: string, name: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { namespace, name },
  spec: { ports: [{ port: 80 }], selector: { app: name } },
})
const named = (prefix: string, count: number): string[] =>
  Array.from({ length: count }, (_, index) => `${prefix}-${index}`)

type Hold = { side: string; waiting: number; contradiction?: string; needsOperator?: boolean }

/** What stops a tenant's deletions, as `status` shows it. */
async function holdOf(tenant: string): Promise<Hold | undefined> {
  const { stdout } = await up.command('status', '--json')
  const { tenants } = JSON.parse(stdout) as { tenants: { name: string; held?: Hold }[] }
  return tenants.find(({ name }) => name === tenant)?.held
}

const uidsOf = (objects: KubeObject[]): Set<string | undefined> => new Set(objects.map(({ metadata }) => metadata.uid))

test('what the tenant itself deletes in great number goes at once', async () => {
  const [tenant] = sides.tenants
  const namespace = await tenant.namespace('many')
  const names = named('s', MANY)
  await Promise.all(names.map((name) => tenant.cluster.create(serviceOf(namespace, name))))
  const isIn = ({ metadata }: KubeObject): boolean => metadata.labels?.['causeway.dev/namespace'] === namespace
  await sides.host.untilAll('services', tenant.hostNamespace, (all) => all.filter(isIn).length === MANY, WAIT)
  await Promise.all(names.map((name) => tenant.cluster.delete('services', { namespace, name })))
  await sides.host.untilAll('services', tenant.hostNamespace, (all) => all.filter(isIn).length === 0, WAIT)
  await expect.poll(() => holdOf(tenant.name), POLL).toBeUndefined()
})

test('a tenant’s cluster that is put back to an earlier state takes nothing from the host until an operator confirms', async () => {
  const namespace = await sides.tenants[0].namespace('late')
  await sides.tenants[1].namespace('late')
  await whileStopped(keep)
  for (const tenant of sides.tenants) {
    for (const name of named('s', FEW)) await tenant.cluster.create(serviceOf(namespace, name))
    for (const name of named('p', 3)) await tenant.cluster.create(podOf(namespace, name))
    await tenant.cluster.untilAll('pods', namespace, (pods) => pods.length === 3 && pods.every(isRunning), WAIT)
  }
  const { hostNamespace } = sides.tenants[0]
  const kept = async (): Promise<KubeObject[]> => [
    ...(await sides.host.list('services', hostNamespace)),
    ...(await sides.host.list('pods', hostNamespace)),
  ]
  await sides.host.untilAll('services', hostNamespace, (all) => all.length === FEW, WAIT)
  const before = uidsOf(await kept())

  await whileStopped(() => putBack('a'))
  await expect.poll(() => holdOf('a'), POLL).toMatchObject({ side: 'virtual', needsOperator: true })
  const late = await sides.tenants[0].cluster.create(serviceOf(namespace, 'made-meanwhile'))
  const { name = '' } = late.metadata
  await sides.host.until('services', sides.tenants[0].copyOf({ namespace, name }), () => true, WAIT)
  expect(uidsOf(await kept()).isSupersetOf(before)).toBe(true)
  expect(await up.command('status')).toMatchObject({ code: 1, stdout: expect.stringContaining('tenant confirm a') })
  expect(await holdOf('b')).toBeUndefined()

  expect(await up.command('tenant', 'confirm', 'a')).toMatchObject({ code: 0 })
  await sides.host.untilAll('services', hostNamespace, (all) => all.length === 1, WAIT)
  await sides.host.untilAll('pods', hostNamespace, (all) => all.length === 0, WAIT)
  await expect.poll(() => holdOf('a'), POLL).toBeUndefined()
})

test('a host that is put back to an earlier state takes no pod from its tenants until an operator confirms', async () => {
  const namespace = 'late'
  const before = uidsOf(await sides.tenants[1].cluster.list('pods', namespace))
  expect(before.size).toBe(3)
  await whileStopped(() => putBack('host'))
  const [, tenant] = sides.tenants
  await expect.poll(() => holdOf('b'), POLL).toMatchObject({ side: 'host', needsOperator: true })
  await sides.host.untilAll('services', tenant.hostNamespace, (all) => all.length === FEW, WAIT)
  const pods = await tenant.cluster.list('pods', namespace)
  expect(uidsOf(pods)).toEqual(before)
  expect(pods.filter(({ metadata }) => metadata.deletionTimestamp !== undefined)).toEqual([])

  expect(await up.command('tenant', 'confirm', 'b')).toMatchObject({ code: 0 })
  await tenant.cluster.untilAll('pods', namespace, (all) => all.length === 0, WAIT)
})
