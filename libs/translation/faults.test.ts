import { describe, expect, test } from 'vitest'
import type { JsonObject, KubeObject, ObjectRef } from '#libs/kube-model'
import { defaultTenantConfig, parseTenantConfig } from '#libs/sync-config'
import { decideFor, KINDS } from './registry.ts'
import { SWITCHES } from './stamps.ts'
import { applyPatch } from './testing/apply-patch.ts'
import { type GoldenCase, goldenCases, readGolden } from './testing/golden-cases.ts'
import { Simulation, TENANT, objectOf, podOf } from './testing/index.ts'
import type { TenantContext } from './view.ts'

/* Faults that other bridges have, where no other test of ours shows that they are not here: see docs/testing.md. */

describe('a copy that somebody deletes on the host', () => {
  const plain = Object.entries(KINDS).filter(([, kind]) => kind.lifecycle === 'plain')

  test.each(plain.map(([resource]) => resource))('of %s is made again, and the tenant keeps its object', (resource) => {
    const { world, ref } = crossed(resource)
    const before = world.get('virtual', ref)
    world.remove('host', world.hostRef(ref))
    expect(world.get('host', world.hostRef(ref))).toBeUndefined()
    world.settle()
    expect(world.get('host', world.hostRef(ref))).toBeDefined()
    expect(world.get('virtual', ref)?.metadata.uid).toBe(before?.metadata.uid)
  })
})

describe('nothing that a tenant writes on its objects', () => {
  test.each([
    { [SWITCHES.pause]: 'true' },
    { [SWITCHES.sync]: 'true' },
    { 'causeway.dev/host-name': 'elsewhere/other' },
    { 'causeway.dev/replacement': '{}' },
  ])('keeps a copy on the host when the object is gone: %o', (annotations) => {
    const world = new Simulation(TENANT)
    const service = world.put('virtual', 'services', objectOf('Service', 'web', { metadata: { annotations } }))
    const ref = refOf('services', service)
    world.settle()
    expect(world.get('host', world.hostRef(ref))).toBeDefined()
    world.remove('virtual', ref)
    world.settle()
    expect(world.get('host', world.hostRef(ref))).toBeUndefined()
  })
})

describe('a Secret that an object no longer refers to', () => {
  test('leaves the host while the object stays, and the one that it now refers to is there', () => {
    const config = configOf({ sync: { toHost: { ingresses: { enabled: true } } } })
    const world = new Simulation({ ...TENANT, config })
    const ingress = world.put('virtual', 'ingresses.networking.k8s.io', ingressWith('old'))
    for (const name of ['old', 'new'])
      world.put('virtual', 'secrets', objectOf('Secret', name, { type: 'Opaque', data: { a: 'YQ==' } }))
    const secret = (name: string): KubeObject | undefined =>
      world.get('host', world.hostRef({ resource: 'secrets', namespace: 'default', name }))
    world.settle()
    expect([secret('old'), secret('new')].map((found) => found !== undefined)).toEqual([true, false])
    world.change('virtual', refOf('ingresses.networking.k8s.io', ingress), {
      spec: ingressWith('new')['spec'] as JsonObject,
    })
    world.settle()
    expect([secret('old'), secret('new')].map((found) => found !== undefined)).toEqual([false, true])
  })
})

describe('an object whose copy’s name another object has', () => {
  test.each([
    ['a ConfigMap of nobody', {}],
    ['a copy of another tenant', { labels: { 'causeway.dev/tenant': 'team-b' } }],
  ])('is told so and leaves it alone, where that is %s', (_what, metadata) => {
    const world = new Simulation(TENANT)
    const pod = world.put('virtual', 'pods', podOf('web'))
    const ref = refOf('pods', pod)
    const { name, namespace } = world.hostRef(ref)
    const other = { ...podOf(name, { namespace }), metadata: { name, namespace, ...metadata } }
    world.put('host', 'pods', other)
    const decisions = decideFor(world.view(ref))
    expect(decisions).toMatchObject([{ kind: 'reject', reason: 'ForeignObject' }])
  })
})

/** A world in which an object of this kind has crossed: the first of the golden cases that does. */
function crossed(resource: string): { world: Simulation; ref: ObjectRef } {
  for (const each of goldenCases(`kinds/${resource}`)) {
    const found = crossedCase(each, resource)
    if (found !== undefined) return found
  }
  throw new Error(`no golden case of ${resource} crosses`)
}

function crossedCase({ folder, context }: GoldenCase, resource: string) {
  const virtual = readGolden<KubeObject>(folder, 'virtual.yaml')
  const config = configIn(context.config ?? {}, resource)
  if (virtual === undefined || config === undefined) return undefined
  const tenant: TenantContext = { ...TENANT, ...context.tenant, config }
  const world = new Simulation(tenant)
  for (const side of ['virtual', 'host'] as const)
    for (const { ref, object } of context[side] ?? []) {
      const { name, namespace } = ref
      const metadata = { ...object.metadata, name, ...(namespace === '' ? {} : { namespace }) }
      world.put(side, ref.resource, { ...object, metadata })
    }
  // Endpoints cross for a Service without selector.
  const { name, namespace, labels } = virtual.metadata
  if (resource.startsWith('endpoint'))
    world.put('virtual', 'services', {
      ...objectOf('Service', labels?.['kubernetes.io/service-name'] ?? name ?? '', {
        spec: {},
        metadata: { namespace },
      }),
    })
  const ref = refOf(resource, world.put('virtual', resource, virtual))
  world.settle()
  return world.get('host', world.hostRef(ref)) === undefined ? undefined : { world, ref }
}

/** The case's configuration with the kind switched on. */
function configIn(config: JsonObject, resource: string): TenantContext['config'] | undefined {
  const plural = resource.split('.')[0]
  const { gatewayApi, customResources: _custom, ...toHost } = defaultTenantConfig().sync.toHost
  const find = (keys: object): string | undefined => Object.keys(keys).find((key) => key.toLowerCase() === plural)
  const [key, nested] = [find(toHost), find(gatewayApi)]
  const all = key === 'configMaps' || key === 'secrets' ? { all: true } : {}
  const on =
    key === undefined ? { gatewayApi: { [nested ?? '']: { enabled: true } } } : { [key]: { enabled: true, ...all } }
  return parseTenantConfig(applyPatch(config, { sync: { toHost: on } }, false)).config
}

function configOf(value: object): TenantContext['config'] {
  const { config, problems } = parseTenantConfig(value)
  if (config === undefined) throw new Error(JSON.stringify(problems))
  return config
}

function ingressWith(secretName: string): KubeObject {
  return objectOf('Ingress', 'shop', { spec: { tls: [{ secretName, hosts: ['shop.example.com'] }] } })
}

function refOf(resource: string, { metadata }: KubeObject): ObjectRef {
  return { resource, namespace: metadata.namespace ?? '', name: metadata.name ?? '' }
}
