import { describe, expect, test } from 'vitest'
import type { JsonObject, ObjectRef } from '#libs/kube-model'
import { Simulation, TENANT, objectOf, podOf } from './testing/index.ts'

const web: ObjectRef = { resource: 'pods', namespace: 'default', name: 'web' }
const settings: ObjectRef = { resource: 'configmaps', namespace: 'default', name: 'settings' }

function running(simulation: Simulation): void {
  simulation.put('virtual', 'configmaps', objectOf('ConfigMap', 'settings', { data: { a: '1' } }))
  const spec = { containers: [{ name: 'main', image: 'nginx:1', envFrom: [{ configMapRef: { name: 'settings' } }] }] }
  simulation.put('virtual', 'pods', podOf('web', { spec }))
  simulation.put('host', 'nodes', {
    metadata: { name: 'n1', labels: { 'kubernetes.io/arch': 'amd64' } },
    status: { capacity: { cpu: '4' } },
  })
  simulation.settle()
  simulation.change('host', simulation.hostRef(web), {
    spec: { nodeName: 'n1' },
    status: { conditions: [{ type: 'PodScheduled', status: 'True', lastTransitionTime: 't1' }] },
  })
  simulation.settle()
  simulation.change('host', simulation.hostRef(web), {
    status: {
      phase: 'Running',
      startTime: 't2',
      podIP: '10.0.0.1',
      containerStatuses: [{ name: 'main', ready: true }],
      conditions: [
        { type: 'PodScheduled', status: 'True', lastTransitionTime: 't1' },
        { type: 'Ready', status: 'True', lastTransitionTime: 't2' },
      ],
    },
  })
  simulation.settle()
}

describe('a tenant and its host', () => {
  test('bring a pod with its ConfigMap and node to run, and rest', () => {
    const simulation = new Simulation(TENANT)
    running(simulation)
    expect(simulation.settle()).toBe(0)
    expect(simulation.get('host', simulation.hostRef(settings))).toMatchObject({ data: { a: '1' } })
    expect(simulation.get('virtual', { resource: 'nodes', namespace: '', name: 'n1' })).toMatchObject({
      status: { capacity: { cpu: '4' } },
    })
    expect(simulation.get('virtual', web)).toMatchObject({
      spec: { nodeName: 'n1' },
      status: { phase: 'Running', podIP: '10.0.0.1', qosClass: 'BestEffort' },
    })
  })

  test('take everything away once the tenant deletes the pod', () => {
    const simulation = new Simulation(TENANT)
    running(simulation)
    simulation.change('virtual', web, { metadata: { deletionTimestamp: 't3', deletionGracePeriodSeconds: 5 } })
    simulation.settle()
    const copy = simulation.get('host', simulation.hostRef(web))
    expect(copy?.metadata).toMatchObject({ deletionGracePeriodSeconds: 5 })
    simulation.remove('host', simulation.hostRef(web))
    simulation.settle()
    expect(simulation.get('virtual', web)).toBeUndefined()
    expect(simulation.get('host', simulation.hostRef(settings))).toBeUndefined()
    expect(simulation.get('virtual', settings)).toBeDefined()
    expect(simulation.get('virtual', { resource: 'nodes', namespace: '', name: 'n1' })).toBeUndefined()
  })

  test("take the tenant's pod away once the host has lost it", () => {
    const simulation = new Simulation(TENANT)
    running(simulation)
    simulation.remove('host', simulation.hostRef(web))
    simulation.settle()
    expect(simulation.get('virtual', web)).toBeUndefined()
  })

  test('merge data and labels that both sides changed, key by key', () => {
    const simulation = new Simulation(TENANT)
    running(simulation)
    simulation.change('virtual', settings, { data: { a: '2', mine: 'v' }, metadata: { labels: { tier: 'web' } } })
    simulation.change('host', simulation.hostRef(settings), {
      data: { a: '3', theirs: 'h' },
      metadata: { labels: { zone: 'z' } },
    })
    simulation.settle()
    for (const object of [simulation.get('virtual', settings), simulation.get('host', simulation.hostRef(settings))]) {
      expect(object).toMatchObject({
        data: { a: '2', mine: 'v', theirs: 'h' },
        metadata: { labels: { tier: 'web', zone: 'z' } },
      })
    }
    simulation.change('virtual', settings, {
      data: { theirs: null } as JsonObject,
      metadata: { labels: { zone: null } } as JsonObject,
    })
    simulation.settle()
    const copy = simulation.get('host', simulation.hostRef(settings))
    expect(copy?.data).toEqual({ a: '2', mine: 'v' })
    expect(copy?.metadata.labels).not.toHaveProperty('zone')
  })

  test('run a pod that was made anew under its name as a new pod', () => {
    const simulation = new Simulation(TENANT)
    running(simulation)
    const before = simulation.get('host', simulation.hostRef(web))?.metadata.uid
    simulation.remove('virtual', web)
    simulation.put('virtual', 'pods', podOf('web'))
    simulation.settle()
    expect(simulation.get('host', simulation.hostRef(web))?.metadata).toMatchObject({
      uid: before,
      deletionGracePeriodSeconds: 30,
    })
    simulation.remove('host', simulation.hostRef(web))
    simulation.settle()
    expect(simulation.get('virtual', web)).toBeDefined()
    expect(simulation.get('host', simulation.hostRef(web))?.metadata.uid).not.toBe(before)
  })

  test('give a Service the address and node port of the host', () => {
    const simulation = new Simulation({ ...TENANT, nodePortsAreChosen: true })
    const web = { resource: 'services', namespace: 'default', name: 'web' }
    const spec = { type: 'NodePort', selector: { app: 'web' }, ports: [{ port: 80, targetPort: 8080 }] }
    simulation.put('virtual', 'services', objectOf('Service', 'web', { spec }))
    simulation.settle()
    const ports = [{ port: 80, targetPort: 8080, protocol: 'TCP', nodePort: 30123 }]
    simulation.change('host', simulation.hostRef(web), {
      spec: { clusterIP: '10.9.0.7', clusterIPs: ['10.9.0.7'], ports },
    })
    simulation.settle()
    expect(simulation.get('virtual', web)?.spec).toMatchObject({
      clusterIP: '10.9.0.7',
      ports: [{ port: 80, targetPort: 8080, nodePort: 30123 }],
    })
    simulation.change('virtual', web, {
      spec: {
        ports: [
          { port: 81, nodePort: 30200 },
          { port: 80, targetPort: 8081, nodePort: 30123 },
        ],
      },
    })
    simulation.settle()
    expect(simulation.get('host', simulation.hostRef(web))?.spec).toMatchObject({
      clusterIP: '10.9.0.7',
      ports: [
        { port: 81, nodePort: 30200 },
        { port: 80, targetPort: 8081, nodePort: 30123 },
      ],
    })
  })
})
