import { describe, expect, test } from 'vitest'
import type { JsonObject, KubeObject, ObjectRef } from '#libs/kube-model'
import { decideFor } from '../../registry.ts'
import { Simulation, TENANT, memoryRelated, objectOf } from '../../testing/index.ts'

const service: ObjectRef = { resource: 'services', namespace: 'default', name: 'db' }
const ref: ObjectRef = { ...service, resource: 'endpoints' }
const slices = 'endpointslices.discovery.k8s.io'
const slice: ObjectRef = { resource: slices, namespace: 'default', name: 'db-1' }

const serviceOf = (spec: JsonObject): KubeObject =>
  objectOf('Service', 'db', { spec: { ports: [{ port: 1 }], ...spec } })
const endpoints = objectOf('Endpoints', 'db', { subsets: [{ addresses: [{ ip: '192.0.2.1' }] }] })
const sliceOf = (labels: JsonObject): KubeObject =>
  objectOf('EndpointSlice', 'db-1', {
    metadata: { labels: { 'kubernetes.io/service-name': 'db', ...labels } },
    addressType: 'IPv4',
    endpoints: [{ addresses: ['192.0.2.1'] }],
  })

function simulated(spec: JsonObject | undefined, sliceLabels: JsonObject = {}): Simulation {
  const simulation = new Simulation(TENANT)
  if (spec !== undefined) simulation.put('virtual', 'services', serviceOf(spec))
  simulation.put('virtual', 'endpoints', endpoints)
  simulation.put('virtual', slices, sliceOf(sliceLabels))
  simulation.settle()
  return simulation
}

const onHost = (simulation: Simulation, of: ObjectRef) => simulation.get('host', simulation.hostRef(of))
const crossing = (simulation: Simulation) =>
  [ref, slice].filter((each) => onHost(simulation, each)).map(({ resource }) => resource)

describe('endpoints', () => {
  test('cross where their Service has no selector', () => {
    expect(crossing(simulated({}))).toEqual(['endpoints', slices])
  })

  test.each<[string, JsonObject | undefined]>([
    ['whose Service has a selector', { selector: { app: 'db' } }],
    ['without Service', undefined],
  ])('%s do not cross', (_title, spec) => {
    expect(crossing(simulated(spec))).toEqual([])
  })

  test('go where the Service gets a selector, and come back where it loses it', () => {
    const simulation = simulated({})
    simulation.change('virtual', service, { spec: { selector: { app: 'db' } } })
    simulation.settle()
    expect(crossing(simulation)).toEqual([])
    simulation.change('virtual', service, { spec: { selector: null } })
    simulation.settle()
    expect(crossing(simulation)).toEqual(['endpoints', slices])
  })

  test('go with their Service', () => {
    const simulation = simulated({})
    simulation.remove('virtual', service)
    simulation.settle()
    expect(crossing(simulation)).toEqual([])
  })

  test('follow what the tenant changes, and die with it', () => {
    const simulation = simulated({})
    simulation.change('virtual', ref, { subsets: [{ addresses: [{ ip: '192.0.2.2' }] }] })
    simulation.settle()
    expect(onHost(simulation, ref)?.subsets).toEqual([{ addresses: [{ ip: '192.0.2.2' }] }])
    simulation.remove('virtual', ref)
    simulation.settle()
    expect(crossing(simulation)).toEqual([slices])
  })

  test('that the host’s controller left behind make room', () => {
    const simulation = simulated({ selector: { app: 'db' } })
    const { name, namespace } = simulation.hostRef(ref)
    const labels = { 'causeway.dev/tenant': TENANT.name, 'causeway.dev/namespace': 'default' }
    simulation.put('host', 'endpoints', { metadata: { name, namespace, labels }, subsets: [] } as KubeObject)
    simulation.settle()
    expect(onHost(simulation, ref)?.metadata.annotations).toBeUndefined()
    simulation.change('virtual', service, { spec: { selector: null } })
    simulation.settle()
    expect(onHost(simulation, ref)?.subsets).toEqual(endpoints.subsets)
  })

  test('of somebody else under the name of the copy are left alone', () => {
    const simulation = new Simulation(TENANT)
    const { name, namespace } = simulation.hostRef(ref)
    simulation.put('host', 'endpoints', { metadata: { name, namespace }, subsets: [] } as KubeObject)
    simulation.put('virtual', 'services', serviceOf({}))
    simulation.put('virtual', 'endpoints', endpoints)
    simulation.settle()
    expect(onHost(simulation, ref)?.subsets).toEqual([])
    expect(simulation.decide(ref)).toMatchObject([{ kind: 'reject', reason: 'ForeignObject' }])
  })

  test('stay as they are while it is not known whether there is a Service', () => {
    const simulation = simulated({})
    const view = { ...simulation.view(ref), related: memoryRelated({ synced: false }) }
    expect(decideFor(view)).toEqual([])
  })

  test('are created after their Service', () => {
    const simulation = new Simulation(TENANT)
    simulation.put('virtual', 'services', serviceOf({}))
    simulation.put('virtual', 'endpoints', endpoints)
    const needs = [{ side: 'host', ...simulation.hostRef(service) }]
    expect(simulation.decide(ref)).toMatchObject([{ rule: 'create', needs }])
  })
})

test('slices that a controller mirrors from Endpoints do not cross: the host mirrors their copy', () => {
  const managedBy = { 'endpointslice.kubernetes.io/managed-by': 'endpointslicemirroring-controller.k8s.io' }
  expect(crossing(simulated({}, managedBy))).toEqual(['endpoints'])
})

test('the tenant’s own API never crosses', () => {
  const simulation = new Simulation(TENANT)
  const named = (kind: string) => objectOf(kind, 'kubernetes', { subsets: [] })
  simulation.put('virtual', 'services', named('Service'))
  simulation.put('virtual', 'endpoints', named('Endpoints'))
  simulation.settle()
  expect(simulation.get('host', simulation.hostRef({ ...ref, name: 'kubernetes' }))).toBeUndefined()
})
