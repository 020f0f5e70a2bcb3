import fc from 'fast-check'
import { expect, test } from 'vitest'
import { jsonEqual } from '#libs/kernel'
import type { JsonObject, ObjectRef, Side } from '#libs/kube-model'
import { Simulation, TENANT, objectOf, podOf } from './testing/index.ts'

/*
 * Whatever tenant, host and kubelet do, in whatever order and however much of it before anything is decided: the two
 * sides come to rest, and say the same then.
 */
const POD_NAMES = ['a', 'b'] as const
const podRef = (name: string): ObjectRef => ({ resource: 'pods', namespace: 'default', name })
const settings: ObjectRef = { resource: 'configmaps', namespace: 'default', name: 'settings' }
const service: ObjectRef = { resource: 'services', namespace: 'default', name: 'web' }

type Step = { what: string; run: (simulation: Simulation) => void }

const change = (side: Side, ref: ObjectRef, patch: JsonObject): Step => ({
  what: `${side} changes ${ref.resource}/${ref.name}: ${JSON.stringify(patch)}`,
  run: (simulation) => {
    const target = side === 'host' ? simulation.hostRef(ref) : ref
    if (simulation.get(side, target) !== undefined) simulation.change(side, target, patch)
  },
})

const remove = (side: Side, ref: ObjectRef): Step => ({
  what: `${side} loses ${ref.resource}/${ref.name}`,
  run: (simulation) => simulation.remove(side, side === 'host' ? simulation.hostRef(ref) : ref),
})

const create = (resource: string, object: ReturnType<typeof podOf>): Step => ({
  what: `tenant creates ${resource}/${String(object.metadata.name)}`,
  run: (simulation) => {
    const ref = { resource, namespace: 'default', name: object.metadata.name ?? '' }
    if (simulation.get('virtual', ref) === undefined) simulation.put('virtual', resource, object)
  },
})

const scheduled = { type: 'PodScheduled', status: 'True', lastTransitionTime: 't1' }
const runningOn = (nodeName: string): JsonObject => ({
  spec: { nodeName },
  status: {
    phase: 'Running',
    startTime: 't1',
    conditions: [scheduled, { type: 'Ready', status: 'True', lastTransitionTime: 't2' }],
  },
})
const terminating = (seconds: number): JsonObject => ({
  metadata: { deletionTimestamp: 't3', deletionGracePeriodSeconds: seconds },
})

/** The host's scheduler and kubelet: they bind what waits and end what runs, and move nothing. */
const onPod = (name: string, state: 'waits' | 'runs', patch: JsonObject): Step => {
  const step = change('host', podRef(name), patch)
  return {
    ...step,
    run: (simulation) => {
      const spec = simulation.get('host', simulation.hostRef(podRef(name)))?.spec as JsonObject | undefined
      if (spec !== undefined && (spec.nodeName === undefined) === (state === 'waits')) step.run(simulation)
    },
  }
}

const pod = fc.constantFrom(...POD_NAMES)
const value = fc.constantFrom('1', '2', null)
const side = fc.constantFrom<Side>('virtual', 'host')
const envFrom = [{ configMapRef: { name: 'settings' } }]
const step: fc.Arbitrary<Step> = fc.oneof(
  pod.map((name) => create('pods', podOf(name, { spec: { containers: [{ name: 'main', image: 'i:1', envFrom }] } }))),
  pod.map((name) => create('pods', podOf(name, { metadata: { labels: { app: 'x' } } }))),
  fc.tuple(pod, fc.constantFrom('n1', 'n2')).map(([name, node]) => onPod(name, 'waits', runningOn(node))),
  pod.map((name) => onPod(name, 'runs', { status: { phase: 'Succeeded' } })),
  fc
    .tuple(side, pod, fc.constantFrom(0, 5, 30))
    .map(([where, name, grace]) => change(where, podRef(name), terminating(grace))),
  fc.tuple(side, pod).map(([where, name]) => remove(where, podRef(name))),
  fc
    .tuple(side, pod, value)
    .map(([where, name, label]) => change(where, podRef(name), { metadata: { labels: { app: label } } })),
  pod.map((name) =>
    change('virtual', podRef(name), { spec: { containers: [{ name: 'main', image: 'i:2', envFrom }] } }),
  ),
  fc.constant(create('configmaps', objectOf('ConfigMap', 'settings', { data: { a: '1' } }))),
  fc
    .tuple(side, fc.constantFrom('a', 'b'), value)
    .map(([where, key, data]) => change(where, settings, { data: { [key]: data } })),
  fc.constant(change('virtual', settings, { immutable: true })),
  side.map((where) => remove(where, settings)),
  fc
    .constantFrom('ClusterIP', 'NodePort')
    .map((type) =>
      create('services', objectOf('Service', 'web', { spec: { type, selector: { app: 'x' }, ports: [{ port: 80 }] } })),
    ),
  fc.constant(
    change('host', service, {
      spec: { clusterIP: '10.0.0.1', ports: [{ port: 80, protocol: 'TCP', nodePort: 30100 }] },
    }),
  ),
  fc.constantFrom('ClusterIP', 'NodePort').map((type) => change('virtual', service, { spec: { type } })),
  fc
    .constantFrom(30200, undefined)
    .map((nodePort) =>
      change('virtual', service, { spec: { ports: [{ port: 80, ...(nodePort === undefined ? {} : { nodePort }) }] } }),
    ),
  side.map((where) => remove(where, service)),
)

test('both sides come to rest after any events, and agree', () => {
  fc.assert(
    fc.property(fc.array(fc.array(step, { maxLength: 4 }), { maxLength: 6 }), (batches) => {
      const simulation = new Simulation(TENANT)
      simulation.put('host', 'nodes', { metadata: { name: 'n1' }, status: { capacity: { cpu: '4' } } })
      for (const batch of batches) {
        for (const { run } of batch) run(simulation)
        simulation.settle()
        expect(simulation.settle()).toBe(0)
        expect(disagreements(simulation)).toEqual([])
      }
    }),
    { numRuns: 400 },
  )
})

function disagreements(simulation: Simulation): string[] {
  const problems: string[] = []
  const compare = (what: string, virtual: unknown, host: unknown): void => {
    if (!jsonEqual(virtual, host))
      problems.push(`${what}: ${JSON.stringify(virtual)}, on the host ${JSON.stringify(host)}`)
  }
  for (const name of POD_NAMES) {
    const virtual = simulation.get('virtual', podRef(name))
    const host = simulation.get('host', simulation.hostRef(podRef(name)))
    const going = [virtual, host].some((object) => object?.metadata.deletionTimestamp !== undefined)
    // While one is on its way out, the other waits for it.
    if (going) continue
    compare(`pod ${name} is there`, virtual !== undefined, host !== undefined)
    if (virtual === undefined || host === undefined) continue
    compare(`node of pod ${name}`, (virtual.spec as JsonObject).nodeName, (host.spec as JsonObject).nodeName)
    compare(`phase of pod ${name}`, (virtual.status as JsonObject).phase, (host.status as JsonObject).phase)
    compare(`label of pod ${name}`, virtual.metadata.labels?.app, host.metadata.labels?.app)
  }
  const config = simulation.get('virtual', settings)
  const copy = simulation.get('host', simulation.hostRef(settings))
  if (copy !== undefined) compare('settings', config?.data ?? {}, copy.data ?? {})
  const [web, webCopy] = [simulation.get('virtual', service), simulation.get('host', simulation.hostRef(service))]
  compare('Service is there', web !== undefined, webCopy !== undefined)
  return problems
}
