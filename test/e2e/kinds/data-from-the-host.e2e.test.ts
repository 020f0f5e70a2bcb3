import { afterAll, beforeAll, expect, test } from 'vitest'
import { configure } from '../../harness/configure.ts'
import { configMapOf, podOf, secretOf, unique } from '../../harness/objects.ts'
import { type World, openWorld } from '../../harness/world.ts'

let world: World
const [shared, target] = [unique('shared'), unique('from-host')]
const mappings = { byName: { [`${shared}/*`]: `${target}/*`, [`${shared}/named`]: 'default/renamed' } }

beforeAll(async () => {
  world = await openWorld({ separate: false })
  const kind = { enabled: true, mappings }
  await world.host.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: shared } })
  await configure(world.up, world.tenants[0].name, { sync: { fromHost: { configMaps: kind, secrets: kind } } })
})
afterAll(async () => {
  await world?.host.delete('namespaces', { name: shared })
  await world?.close()
})

test('a ConfigMap of the host appears where it is mapped to, follows, and is the host’s alone', async () => {
  const { host, tenants } = world
  const [tenant, other] = tenants
  const ref = { namespace: target, name: 'settings' }
  await host.create(configMapOf(shared, 'settings', { color: 'red', gone: 'soon' }))
  await host.create(configMapOf(shared, 'named', { it: 'is' }))
  const copy = await tenant.cluster.until('configmaps', ref, ({ data }) => Boolean(data))
  expect(copy['data']).toEqual({ color: 'red', gone: 'soon' })
  await tenant.cluster.until('configmaps', { namespace: 'default', name: 'renamed' }, () => true)
  expect(await tenant.cluster.find('configmaps', { namespace: target, name: 'named' })).toBeUndefined()

  const is = (color: string) => (object: object) =>
    JSON.stringify((object as { data?: object }).data) === `{"color":"${color}"}`
  await host.patch('configmaps', { namespace: shared, name: 'settings' }, { data: { color: 'blue', gone: null } })
  await tenant.cluster.until('configmaps', ref, is('blue'))
  await tenant.cluster.patch('configmaps', ref, { data: { color: 'mine' } })
  await tenant.cluster.until('configmaps', ref, is('blue'))
  await tenant.cluster.delete('configmaps', ref)
  await tenant.cluster.until('configmaps', { ...ref }, ({ metadata }) => metadata.uid !== copy.metadata.uid)

  await host.delete('configmaps', { namespace: shared, name: 'settings' })
  await tenant.cluster.untilGone('configmaps', ref)
  expect(await other.cluster.find('namespaces', { name: target })).toBeUndefined()
})

test('a Secret of the host can be used by pods, and credentials of the host are not shown', async () => {
  const { host, tenants } = world
  const tenant = tenants[0]
  await host.create({
    ...secretOf(shared, 'token', { token: 'of-the-host' }),
    metadata: { namespace: shared, name: 'token', annotations: { 'kubernetes.io/service-account.name': 'default' } },
    type: 'kubernetes.io/service-account-token',
  })
  await host.create(secretOf(shared, 'registry', { password: 'open' }))
  const ref = { namespace: target, name: 'registry' }
  const copy = await tenant.cluster.until('secrets', ref, () => true)
  expect(copy['data']).toEqual({ password: 'b3Blbg==' })
  expect(await tenant.cluster.find('secrets', { namespace: target, name: 'token' })).toBeUndefined()
  await tenant.cluster.create(podOf(target, 'web', { secret: 'registry' }))
  const used = await host.until('secrets', tenant.copyOf(ref), () => true)
  expect(used['data']).toEqual({ password: 'b3Blbg==' })
  await host.patch('secrets', { namespace: shared, name: 'registry' }, { data: { password: 'c2h1dA==' } })
  await host.until('secrets', tenant.copyOf(ref), ({ data }) => JSON.stringify(data) === '{"password":"c2h1dA=="}')
})

test('what the tenant made itself is left alone, and copies go when the mapping does', async () => {
  const { host, tenants, up } = world
  const tenant = tenants[0]
  await tenant.cluster.until('namespaces', { name: target }, () => true)
  await tenant.cluster.create(configMapOf(target, 'own', { mine: 'yes' }))
  await host.create(configMapOf(shared, 'own', { mine: 'no' }))
  await host.create(configMapOf(shared, 'last', {}))
  const last = { namespace: target, name: 'last' }
  await tenant.cluster.until('configmaps', last, () => true)
  const own = { namespace: target, name: 'own' }
  expect((await tenant.cluster.get('configmaps', own))['data']).toEqual({ mine: 'yes' })
  await configure(up, tenant.name, {})
  await tenant.cluster.untilGone('configmaps', last)
  expect((await tenant.cluster.get('configmaps', own))['data']).toEqual({ mine: 'yes' })
})
