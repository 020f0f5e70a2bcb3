import { describe, expect, test } from 'vitest'
import type { JsonObject, KubeObject, ObjectRef } from '#libs/kube-model'
import { parseTenantConfig } from '#libs/sync-config'
import { decideFor } from '../../registry.ts'
import { watchedVirtual } from '../../reach.ts'
import { Simulation, TENANT, memoryRelated, objectOf } from '../../testing/index.ts'
import { GATEWAYS, GRANTS } from './references.ts'

const { config = TENANT.config } = parseTenantConfig({ sync: { toHost: { gatewayApi: { enabled: true } } } })
const ROUTES = 'httproutes.gateway.networking.k8s.io'
const route: ObjectRef = { resource: ROUTES, namespace: 'web', name: 'shop' }
const gateway: ObjectRef = { resource: GATEWAYS, namespace: 'infra', name: 'edge' }

const inNamespace = (kind: string, namespace: string, name: string, spec: JsonObject): KubeObject =>
  objectOf(kind, name, { metadata: { namespace }, spec })

const edge = (from: string): KubeObject =>
  inNamespace('Gateway', 'infra', 'edge', { listeners: [{ name: 'http', allowedRoutes: { namespaces: { from } } }] })

const shop = inNamespace('HTTPRoute', 'web', 'shop', {
  parentRefs: [{ name: 'edge', namespace: 'infra' }],
  rules: [{ backendRefs: [{ name: 'api', namespace: 'data' }] }],
})

const grant = inNamespace('ReferenceGrant', 'data', 'g', {
  from: [{ group: 'gateway.networking.k8s.io', kind: 'HTTPRoute', namespace: 'web' }],
  to: [{ group: '', kind: 'Service' }],
})

function simulated(...objects: [resource: string, object: KubeObject][]): Simulation {
  // Classes of the host are not what this is about.
  const fromHost = {
    ...config.sync.fromHost,
    gatewayClasses: { ...config.sync.fromHost.gatewayClasses, enabled: false },
  }
  const simulation = new Simulation({ ...TENANT, config: { ...config, sync: { ...config.sync, fromHost } } })
  for (const [resource, object] of objects) simulation.put('virtual', resource, object)
  simulation.settle()
  return simulation
}

const isOnHost = (simulation: Simulation, ref = route): boolean =>
  simulation.get('host', simulation.hostRef(ref)) !== undefined

describe('a route into other namespaces', () => {
  test('crosses where the Gateway admits it and a grant lets it refer to its backend', () => {
    const simulation = simulated([GATEWAYS, edge('All')], [ROUTES, shop], [GRANTS, grant])
    expect(isOnHost(simulation)).toBe(true)
    expect(simulation.get('host', simulation.hostRef(route))?.spec).toEqual({
      parentRefs: [{ name: simulation.hostRef(gateway).name }],
      rules: [{ backendRefs: [{ name: 'api-x-data-x-team-a' }] }],
    })
  })

  test('waits for Gateway and grant, goes with either, and comes back', () => {
    const simulation = simulated([ROUTES, shop])
    expect(simulation.decide(route)).toMatchObject([{ kind: 'reject', reason: 'ReferenceNotPermitted' }])
    simulation.put('virtual', GATEWAYS, edge('All'))
    simulation.settle()
    expect(isOnHost(simulation)).toBe(false)
    simulation.put('virtual', GRANTS, grant)
    simulation.settle()
    expect(isOnHost(simulation)).toBe(true)
    simulation.remove('virtual', { resource: GRANTS, namespace: 'data', name: 'g' })
    simulation.settle()
    expect(isOnHost(simulation)).toBe(false)
    expect(simulation.decide(route)).toMatchObject([{ kind: 'reject', reason: 'ReferenceNotPermitted' }])
    simulation.put('virtual', GRANTS, grant)
    simulation.put('virtual', GATEWAYS, edge('Same'))
    simulation.settle()
    expect(isOnHost(simulation)).toBe(false)
    expect(isOnHost(simulation, gateway)).toBe(true)
  })

  test('stays as it is while grants and Gateways may only not have been seen yet', () => {
    const simulation = simulated([GATEWAYS, edge('All')], [ROUTES, shop], [GRANTS, grant])
    const view = { ...simulation.view(route), related: memoryRelated({ synced: false }) }
    expect(decideFor(view)).toEqual([])
    expect(decideFor({ ...view, related: memoryRelated() }).length).toBeGreaterThan(0)
  })
})

test('grants and Gateways are read wherever routes cross, and are watched once', () => {
  const toHost = { gatewayApi: { tlsRoutes: { enabled: true } } }
  const watched = watchedVirtual(parseTenantConfig({ sync: { toHost } }).config ?? config)
  const plurals = watched.map(({ plural }) => plural).filter((plural) => /route|gateways|grant/.test(plural))
  expect(plurals.toSorted()).toEqual(['gateways', 'referencegrants', 'tlsroutes'])
})

describe('where each namespace of the tenant has one of its own on the host', () => {
  const own = parseTenantConfig({
    sync: {
      toHost: {
        gatewayApi: { enabled: true },
        namespaces: { enabled: true, mappings: { byName: { data: 'team-data' } } },
      },
      fromHost: { gatewayClasses: { enabled: false } },
    },
  })
  if (own.config === undefined) throw new Error(JSON.stringify(own.problems))
  const tenant = { ...TENANT, config: own.config }
  const infra = 'causeway-infra-x-team-a'
  const web = 'causeway-web-x-team-a'
  const made = (...objects: [resource: string, object: KubeObject][]): Simulation => {
    const simulation = new Simulation(tenant)
    for (const [resource, object] of objects) simulation.put('virtual', resource, object)
    simulation.settle()
    return simulation
  }
  const copyOf = (simulation: Simulation, ref: ObjectRef): KubeObject | undefined =>
    simulation.get('host', simulation.hostRef(ref))

  test('references name the host namespaces, but for those in the object’s own', () => {
    const rules = [
      { backendRefs: [{ name: 'api', namespace: 'data' }, { name: 'local', namespace: 'web' }, { name: 'too' }] },
    ]
    const routed = inNamespace('HTTPRoute', 'web', 'shop', {
      parentRefs: [{ name: 'edge', namespace: 'infra' }],
      rules,
    })
    const simulation = made([GATEWAYS, edge('All')], [ROUTES, routed], [GRANTS, grant])
    const copy = copyOf(simulation, route)
    expect(copy?.metadata.namespace).toBe(web)
    expect(copy?.spec).toEqual({
      parentRefs: [{ name: 'edge-x-infra-x-team-a', namespace: infra }],
      rules: [
        {
          backendRefs: [
            { name: 'api-x-data-x-team-a', namespace: 'team-data' },
            { name: 'local-x-web-x-team-a' },
            { name: 'too-x-web-x-team-a' },
          ],
        },
      ],
    })
    expect(copyOf(simulation, { resource: GRANTS, namespace: 'data', name: 'g' })).toMatchObject({
      metadata: { namespace: 'team-data' },
      spec: { from: [{ kind: 'HTTPRoute', namespace: web }], to: [{ group: '', kind: 'Service' }] },
    })
  })

  test.each([
    ['All', { from: 'Selector', selector: { matchLabels: { 'causeway.dev/tenant': 'team-a' } } }],
    ['Selector', { from: 'Selector', selector: { matchLabels: { 'causeway.dev/tenant': 'team-a' } } }],
    ['Same', { from: 'Same' }],
    ['None', { from: 'None' }],
  ])('a listener that admits routes of %s admits no other tenant’s', (from, expected) => {
    const simulation = made([GATEWAYS, edge(from)])
    expect(copyOf(simulation, gateway)?.spec).toMatchObject({
      listeners: [{ allowedRoutes: { namespaces: expected } }],
    })
  })

  test('without grant or admission nothing crosses, as in one namespace', () => {
    expect(copyOf(made([GATEWAYS, edge('Same')], [ROUTES, shop], [GRANTS, grant]), route)).toBeUndefined()
    expect(copyOf(made([GATEWAYS, edge('All')], [ROUTES, shop]), route)).toBeUndefined()
  })

  test('the status comes back in the tenant’s names', () => {
    const simulation = made([GATEWAYS, edge('All')], [ROUTES, shop], [GRANTS, grant])
    const copy = copyOf(simulation, route)
    const told = (parentRef: JsonObject): JsonObject => ({
      parents: [{ parentRef, controllerName: 'c', conditions: [] }],
    })
    const status = told({ name: 'edge-x-infra-x-team-a', namespace: infra, group: 'gateway.networking.k8s.io' })
    simulation.put('host', ROUTES, { ...copy, metadata: copy?.metadata ?? {}, status })
    simulation.settle()
    expect(simulation.get('virtual', route)?.status).toEqual(told({ name: 'edge', namespace: 'infra' }))
  })
})
