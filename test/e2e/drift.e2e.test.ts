import { readFileSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { KubeObject } from '#libs/kube-model'
import { type Installation, startUp } from '../harness/installation.ts'
import { configMapOf, isRunning, podOf, secretOf, unique } from '../harness/objects.ts'
import { type SidesView, openView } from '../harness/world.ts'

/* What is changed by hand, with patrols and verifications that go round all the time; and what lies about at the end. */

const WAIT = { timeoutMs: 60_000 }
const POLL = { timeout: 90_000, interval: 500 }
const VALUE = 'correct-horse-battery-staple'
const LATER = 'tr0ub4dor-and-three'

let up: Installation
let sides: SidesView
let namespace: string

beforeAll(async () => {
  const env = { CAUSEWAY_PATROL_SECONDS: '1', CAUSEWAY_VERIFY_SECONDS: '4' }
  up = await startUp({ separate: false, tenants: ['a', 'b'], env })
  const { host: _host, ...tenants } = up.ready.kubeconfigs
  sides = await openView({ host: up.ready.hostKubeconfig, tenants })
  namespace = await sides.tenants[0].namespace(unique('drift'))
  const { cluster } = sides.tenants[0]
  await cluster.create(configMapOf(namespace, 'settings', { color: 'blue' }))
  await cluster.create(secretOf(namespace, 'token', { password: VALUE }))
  await cluster.create({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { namespace, name: 'web' },
    spec: { ports: [{ port: 80 }], selector: { app: 'web' } },
  })
  for (const name of ['one', 'two'])
    await cluster.create(podOf(namespace, name, { configMap: 'settings', secret: 'token', labels: { app: 'web' } }))
  await cluster.untilAll('pods', namespace, (pods) => pods.length === 2 && pods.every(isRunning), WAIT)
})
afterAll(async () => {
  await sides?.close()
  await up?.dispose()
})

const copyOf = (name: string) => sides.tenants[0].copyOf({ namespace, name })
const dataOf = (object: KubeObject): Record<string, string> => (object['data'] ?? {}) as Record<string, string>

/** The sum of a metric over its labels. */
async function sum(name: string): Promise<number> {
  const answer = await fetch(`${up.ready.health['causeway']}/metrics`)
  const lines = (await answer.text()).matchAll(new RegExp(`^${name}(?:\\{.*\\})? (\\d+)$`, 'gm'))
  return [...lines].reduce((total, [, count]) => total + Number(count), 0)
}

/** Waits until both tenants were patrolled once more, and most kinds were verified. */
async function goRound(): Promise<void> {
  const before = await Promise.all([
    sum('causeway_translator_patrols_total'),
    sum('causeway_watcher_verifications_total'),
  ])
  await expect.poll(() => sum('causeway_translator_patrols_total'), POLL).toBeGreaterThanOrEqual(before[0] + 4)
  await expect.poll(() => sum('causeway_watcher_verifications_total'), POLL).toBeGreaterThanOrEqual(before[1] + 25)
}

test('at rest, patrols and verifications find nothing, and nothing is written', async () => {
  await expect.poll(() => sum('causeway_translator_patrols_total'), POLL).toBeGreaterThanOrEqual(2)
  const names = ['causeway_translator_repairs_total', 'causeway_watcher_found_total']
  expect(await Promise.all(names.map(sum))).toEqual([0, 0])
  const before = await sum('causeway_translator_intents_total')
  await goRound()
  expect(await sum('causeway_translator_intents_total')).toBe(before)
  expect(await Promise.all(names.map(sum))).toEqual([0, 0])
})

test('a copy that is edited or deleted by hand is what it was, and the tenant’s object never went', async () => {
  const { host, tenants } = sides
  const [{ cluster }] = tenants
  const original = await cluster.get('services', { namespace, name: 'web' })
  const first = await host.get('services', copyOf('web'))
  await host.delete('services', copyOf('web'))
  const again = await host.until('services', copyOf('web'), ({ metadata }) => metadata.uid !== first.metadata.uid, WAIT)
  expect(again.metadata.labels).toMatchObject({ 'causeway.dev/tenant': 'a' })
  await host.patch('services', copyOf('web'), { spec: { selector: { app: 'mine' } } })
  await host.until('services', copyOf('web'), ({ spec }) => !JSON.stringify(spec).includes('"mine"'), WAIT)
  await host.patch('services', copyOf('web'), { metadata: { labels: { 'causeway.dev/tenant': null } } })
  await host.until('services', copyOf('web'), ({ metadata }) => metadata.labels?.['causeway.dev/tenant'] === 'a', WAIT)
  expect((await cluster.get('services', { namespace, name: 'web' })).metadata.uid).toBe(original.metadata.uid)
})

test('what the tenant edits by hand of what the host says is said again', async () => {
  const [{ cluster }] = sides.tenants
  const at = { namespace, name: 'one' }
  const path = `/api/v1/namespaces/${namespace}/pods/one/status`
  const body = { status: { message: 'by hand', phase: 'Pending' } }
  await cluster.client.request({ method: 'PATCH', path, body, contentType: 'application/merge-patch+json' })
  const told = ({ status }: KubeObject): boolean => !JSON.stringify(status).includes('by hand')
  expect(isRunning(await cluster.until('pods', at, (pod) => isRunning(pod) && told(pod), WAIT))).toBe(true)
})

test('after all that, patrols and verifications find nothing again', async () => {
  const patrols = await sum('causeway_translator_patrols_total')
  await expect.poll(() => sum('causeway_translator_patrols_total'), POLL).toBeGreaterThanOrEqual(patrols + 4)
  const before = await sum('causeway_translator_repairs_total')
  await goRound()
  expect(await sum('causeway_translator_repairs_total')).toBe(before)
  expect(await sum('causeway_watcher_found_total')).toBe(0)
})

test('a Secret’s values are in no file of the log, of what services remember, or of what they say', async () => {
  const { host, tenants } = sides
  await tenants[0].cluster.patch('secrets', { namespace, name: 'token' }, { stringData: { password: LATER } })
  const encoded = (text: string): string => Buffer.from(text).toString('base64')
  await host.until('secrets', copyOf('token'), (found) => dataOf(found)['password'] === encoded(LATER), WAIT)
  const { stdout } = await up.command('status', '--json')
  const metrics = await (await fetch(`${up.ready.health['causeway']}/metrics`)).text()
  expect(await up.stop()).toMatchObject({ code: 0 })
  const texts = ['nats', 'services', 'logs'].flatMap((folder) => filesIn(join(up.data, folder)))
  expect(texts.length).toBeGreaterThan(10)
  const secrets = [VALUE, LATER].flatMap((value) => [value, encoded(value)])
  const found = texts.filter((path) => secrets.some((text) => readFileSync(path).includes(text)))
  expect(found).toEqual([])
  expect(secrets.filter((text) => stdout.includes(text) || metrics.includes(text))).toEqual([])
})

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile())
}
