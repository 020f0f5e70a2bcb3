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

describe('what the host made for a Service while it had a selector', () => {
  const selector = { app: 'db' }
  const made = (simulation: Simulation, more: JsonObject = {}): { left: ObjectRef; put: KubeObject } => {
    const copy = onHost(simulation, service)
    const { name = '', namespace = '', uid = '', labels = {} } = copy?.metadata ?? {}
    const left = { resource: slices, namespace, name: `${name}-abcde` }
    const put = simulation.put('host', slices, {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: {
        name: left.name,
        namespace,
        labels: {
          ...labels,
          'kubernetes.io/service-name': name,
          'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io',
        },
        ownerReferences: [{ apiVersion: 'v1', kind: 'Service', name, uid, controller: true }],
      },
      addressType: 'IPv4',
      endpoints: [],
      ...more,
    })
    return { left, put }
  }

  test('stays while it has one, and goes where it loses it', () => {
    const simulation = simulated({ selector })
    const { left } = made(simulation)
    simulation.settle()
    expect(simulation.get('host', left)).toBeDefined()
    simulation.change('virtual', service, { spec: { selector: null } })
    simulation.settle()
    expect(simulation.get('host', left)).toBeUndefined()
    expect(crossing(simulation)).toEqual(['endpoints', slices])
  })

  test('goes where its tenant has no Endpoints of its own either', () => {
    const simulation = simulated({ selector })
    simulation.remove('virtual', ref)
    const { name = '', namespace = '', labels = {} } = onHost(simulation, service)?.metadata ?? {}
    const theirs = { apiVersion: 'v1', kind: 'Endpoints', metadata: { name, namespace, labels } }
    simulation.put('host', 'endpoints', theirs)
    simulation.settle()
    expect(onHost(simulation, ref)).toBeDefined()
    simulation.change('virtual', service, { spec: { selector: null } })
    simulation.settle()
    expect(onHost(simulation, ref)).toBeUndefined()
  })

  test.each<[string, (slice: KubeObject) => JsonObject]>([
    ['of another owner', () => ({ ownerReferences: [{ kind: 'Service', name: 'x', uid: 'another' }] })],
    [
      'of another controller',
      ({ metadata }) => ({ labels: { ...metadata.labels, 'endpointslice.kubernetes.io/managed-by': 'somebody' } }),
    ],
    ['of another Service', ({ metadata }) => ({ labels: { ...metadata.labels, 'kubernetes.io/service-name': 'x' } })],
  ])('%s is left alone', (_title, change) => {
    const simulation = simulated({})
    const { left, put } = made(simulation)
    simulation.change('host', left, { metadata: change(put) })
    simulation.settle()
    expect(simulation.get('host', left)).toBeDefined()
  })
})
