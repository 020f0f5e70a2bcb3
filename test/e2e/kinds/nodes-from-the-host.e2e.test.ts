import { afterAll, beforeAll, expect, test } from 'vitest'
import type { KubeObject } from '#libs/kube-model'
import { configure } from '../../harness/configure.ts'
import { unique } from '../../harness/objects.ts'
import { type World, openWorld } from '../../harness/world.ts'

let world: World
beforeAll(async () => {
  world = await openWorld({ separate: false })
})
afterAll(() => world?.close())

const pool = unique('pool')
const nodeOf = (name: string, labels: Record<string, string>): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name, labels },
  // Nothing of other tests is to be put there.
  spec: { unschedulable: true, taints: [{ key: 'pool', value: pool, effect: 'NoSchedule' }] },
})

test('nodes of the host are shown by label, as they are, and to nobody else', async () => {
  const { host, tenants, up } = world
  const [tenant, other] = tenants
  const [shown, hidden] = [unique('shown'), unique('hidden')]
  await host.create(nodeOf(shown, { pool, zone: 'a' }))
  await host.create(nodeOf(hidden, {}))
  await configure(up, tenant.name, { sync: { fromHost: { nodes: { enabled: true, selector: { labels: { pool } } } } } })
  const node = await tenant.cluster.until('nodes', { name: shown }, () => true)
  expect(node.metadata.labels).toMatchObject({ pool, zone: 'a' })
  expect(node['spec']).toMatchObject({ taints: expect.arrayContaining([expect.objectContaining({ value: pool })]) })

  await host.patch('nodes', { name: shown }, { metadata: { labels: { zone: 'b', more: 'x' } } })
  await tenant.cluster.until('nodes', { name: shown }, ({ metadata }) => metadata.labels?.['more'] === 'x')
  await host.patch('nodes', { name: shown }, { metadata: { labels: { more: null } } })
  await tenant.cluster.until('nodes', { name: shown }, ({ metadata }) => metadata.labels?.['more'] === undefined)
  expect(await tenant.cluster.find('nodes', { name: hidden })).toBeUndefined()
  expect(await other.cluster.find('nodes', { name: shown })).toBeUndefined()

  await configure(up, tenant.name, { sync: { fromHost: { nodes: { enabled: true, selector: { all: true } } } } })
  await tenant.cluster.until('nodes', { name: hidden }, () => true)
  await host.delete('nodes', { name: hidden })
  await tenant.cluster.untilGone('nodes', { name: hidden })
  await configure(up, tenant.name, {})
  await tenant.cluster.untilGone('nodes', { name: shown })
  await host.delete('nodes', { name: shown })
})

test('a dedicated tenant sees its nodes and no others', async () => {
  const { host, tenants, up } = world
  const tenant = tenants[1]
  const [own, foreign] = [unique('own'), unique('foreign')]
  await host.create(nodeOf(foreign, {}))
  await host.create(nodeOf(own, { team: tenant.name }))
  const nodes = { model: 'dedicated', selector: { team: tenant.name } }
  await configure(up, tenant.name, { nodes, sync: { fromHost: { nodes: { enabled: true, selector: { all: true } } } } })
  await tenant.cluster.until('nodes', { name: own }, () => true)
  expect((await tenant.cluster.list('nodes')).map(({ metadata }) => metadata.name)).toEqual([own])
  for (const name of [own, foreign]) await host.delete('nodes', { name })
  await tenant.cluster.untilGone('nodes', { name: own })
})
