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
