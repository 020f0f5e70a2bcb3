import { afterAll, beforeAll, expect, test } from 'vitest'
import type { KubeObject } from '#libs/kube-model'
import { configure } from '../../harness/configure.ts'
import { secretOf, unique } from '../../harness/objects.ts'
import { type Tenant, type World, openWorld } from '../../harness/world.ts'

/* Fields changed on their way, with real processes: forth, back, by a configuration that comes later, and in vain. */

let world: World
beforeAll(async () => {
  world = await openWorld({ separate: false })
  await configure(world.up, tenant().name, configWith('value.trimSuffix(".tenants.example.com")'))
})
afterAll(() => world?.close())

const tenant = (): Tenant => world.tenants[0]
const HOST = 'dns.example.com/host'
const CERTIFICATE = 'lb.example.com/certificate'

function configWith(reverseExpression: string): object {
  const patches = [
    {
      path: `metadata.annotations["${HOST}"]`,
      expression: 'value + ".tenants.example.com"',
      reverseExpression,
    },
    { path: `metadata.annotations["${CERTIFICATE}"]`, reference: { apiVersion: 'v1', kind: 'Secret' } },
    { path: 'spec.externalName', expression: 'value + "." + context.tenant + ".example.com"' },
  ]
  return { sync: { toHost: { services: { patches } } } }
}

function serviceOf(namespace: string, name: string): KubeObject {
  const annotations = { [HOST]: 'web', [CERTIFICATE]: 'certificate' }
  const spec = { type: 'ExternalName', externalName: 'db' }
  return { apiVersion: 'v1', kind: 'Service', metadata: { namespace, name, annotations }, spec } as KubeObject
}

const hasHost = (value: string) => (object: KubeObject) => object.metadata.annotations?.[HOST] === value

test('fields are patched on the way out and back, and what a patch refers to crosses', async () => {
  const { host, up } = world
  const { cluster } = tenant()
  const copyOf = (ref: { namespace: string; name: string }) => tenant().copyOf(ref)
  const namespace = await tenant().namespace()
  const ref = { namespace, name: unique('web') }
  await cluster.create(secretOf(namespace, 'certificate', { 'tls.crt': 'x' }))
  await cluster.create(serviceOf(namespace, ref.name))
  const copy = await host.until('services', copyOf(ref), hasHost('web.tenants.example.com'))
  expect(copy['spec']).toMatchObject({ externalName: `db.${tenant().name}.example.com` })
  expect(copy.metadata.annotations?.[CERTIFICATE]).toBe(copyOf({ namespace, name: 'certificate' }).name)
  await host.until('secrets', copyOf({ namespace, name: 'certificate' }), () => true)

  await cluster.patch('services', ref, { metadata: { annotations: { [HOST]: 'shop' } } })
  await host.until('services', copyOf(ref), hasHost('shop.tenants.example.com'))
  await host.patch('services', copyOf(ref), { metadata: { annotations: { [HOST]: 'store.tenants.example.com' } } })
  await cluster.until('services', ref, hasHost('store'))
  expect(hasHost('store.tenants.example.com')(await host.get('services', copyOf(ref)))).toBe(true)

  // Without patches the copy has what the tenant has; with them again, what they make of it.
  await configure(up, tenant().name, {})
  await host.until('services', copyOf(ref), hasHost('store'))
  await host.untilGone('secrets', copyOf({ namespace, name: 'certificate' }))
  await configure(up, tenant().name, configWith('value'))
  await host.until('services', copyOf(ref), hasHost('store.tenants.example.com'))
  await host.until('secrets', copyOf({ namespace, name: 'certificate' }), () => true)
  expect(hasHost('store')(await cluster.get('services', ref))).toBe(true)

  // Those two do not undo one another: told, and nothing moves.
  const events = await cluster.untilAll('events', namespace, (seen) => seen.some(isAboutLoop))
  expect(events.find(isAboutLoop)).toMatchObject({ involvedObject: { name: ref.name } })
  await host.patch('services', copyOf(ref), { metadata: { annotations: { [HOST]: 'other' } } })
  await cluster.patch('services', ref, { metadata: { annotations: { unrelated: 'x' } } })
  await host.until('services', copyOf(ref), ({ metadata }) => metadata.annotations?.['unrelated'] === 'x')
  expect(hasHost('other')(await host.get('services', copyOf(ref)))).toBe(true)
  expect(hasHost('store')(await cluster.get('services', ref))).toBe(true)
  await cluster.patch('services', ref, { metadata: { annotations: { [HOST]: 'mine' } } })
  await host.until('services', copyOf(ref), hasHost('mine.tenants.example.com'))

  await cluster.delete('services', ref)
  await host.untilGone('services', copyOf(ref))
  await host.untilGone('secrets', copyOf({ namespace, name: 'certificate' }))
})

function isAboutLoop(event: KubeObject): boolean {
  return typeof event['message'] === 'string' && event['message'].startsWith('PatchLoop:')
}
