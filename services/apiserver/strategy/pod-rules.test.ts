import { describe, expect, it } from 'vitest'

import { cloneJson } from '#libs/kernel'
import type { JsonObject, KubeObject } from '#libs/kube-model'

import { applyDefaults } from '../schema/defaults.ts'
import { asObject, objectsIn } from '../schema/json-shape.ts'
import { qosClassOf } from './pod-rules.ts'
import { strategyFor } from './strategies.ts'
import type { StrategyContext } from './strategy.ts'

const CONTEXT: StrategyContext = {
  now: '2026-01-01T00:00:00Z',
  allocateClusterIP: () => '10.96.0.10',
  allocateNodePort: () => 30_000,
  serviceClusterIP: 'allocate',
}

const strategy = strategyFor('pods')
const texts = (object: KubeObject, previous?: KubeObject): string[] => [
  ...new Set(strategy.validate(object, previous).map(({ field, message }) => `${field}: ${message}`)),
]

/** A pod as it is stored when a client creates it with this spec. */
function created(spec: JsonObject): KubeObject {
  const pod: KubeObject = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p', namespace: 'ns' }, spec }
  applyDefaults({ group: '', version: 'v1', kind: 'Pod' }, pod)
  strategy.prepareCreate(pod, CONTEXT)
  return pod
}

/** The pod with changes to its spec. */
function changed(pod: KubeObject, spec: JsonObject): KubeObject {
  const next = cloneJson(pod)
  next['spec'] = { ...asObject(pod['spec']), ...spec }
  return next
}

const ONE = [{ name: 'c', image: 'img:1' }]

describe('a pod that is created', () => {
  it('is pending, has generation 1, a priority and tolerates failing nodes for a while', () => {
    const pod = created({ containers: ONE })
    expect(pod).toMatchObject({
      metadata: { generation: 1 },
      spec: {
        priority: 0,
        preemptionPolicy: 'PreemptLowerPriority',
        tolerations: [
          { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 },
          { key: 'node.kubernetes.io/unreachable', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 },
        ],
      },
    })
    expect(pod['status']).toEqual({ phase: 'Pending', qosClass: 'BestEffort' })
    expect(texts(pod)).toEqual([])
  })

  it('says that gates hold it', () => {
    expect(created({ containers: ONE, schedulingGates: [{ name: 'x.y/a' }] })).toMatchObject({
      status: { conditions: [{ type: 'PodScheduled', status: 'False', reason: 'SchedulingGated' }] },
    })
  })

  it.each<[JsonObject, string[]]>([
    [{}, ['spec.containers: Required value']],
    [{ containers: [{ name: 'c' }] }, ['spec.containers[0].image: Required value']],
    [{ containers: [...ONE, ...ONE] }, ['spec.containers[1].name: Duplicate value: "c"']],
    [
      { containers: [{ name: 'a.b', image: 'i' }] },
      ['spec.containers[0].name: Invalid value: "a.b": must not contain dots'],
    ],
    [
      { containers: ONE, restartPolicy: 'Sometimes' },
      ['spec.restartPolicy: Unsupported value: "Sometimes": supported values: "Always", "OnFailure", "Never"'],
    ],
    [
      { containers: [{ name: 'c', image: 'i', resources: { limits: { cpu: '1' }, requests: { cpu: '2' } } }] },
      ['spec.containers[0].resources.requests: Invalid value: "2": must be less than or equal to cpu limit of 1'],
    ],
    [
      { containers: [{ name: 'c', image: 'i', volumeMounts: [{ name: 'nope', mountPath: '/x' }] }] },
      ['spec.containers[0].volumeMounts[0].name: Not found: "nope"'],
    ],
    [
      { containers: ONE, volumes: [{ name: 'v', emptyDir: {}, hostPath: { path: '/x' } }] },
      ['spec.volumes[0].hostPath: Forbidden: may not specify more than 1 volume type'],
    ],
    [
      { containers: [{ name: '', image: 'i', imagePullPolicy: 'Y', ports: [{ containerPort: 0 }] }], dnsPolicy: 'X' },
      [
        'spec.containers[0].name: Required value',
        'spec.containers[0].ports[0].containerPort: Required value',
        'spec.containers[0].imagePullPolicy: Unsupported value: "Y": supported values: "Always", "IfNotPresent", "Never"',
        'spec.dnsPolicy: Unsupported value: "X": supported values: "ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"',
      ],
    ],
  ])('is refused with spec %j', (spec, expected) => {
    expect(texts(created(cloneJson(spec)))).toEqual(expected)
  })
})

describe('a pod that is updated', () => {
  const pod = created({ containers: ONE, activeDeadlineSeconds: 100 })
  const [container] = objectsIn(asObject(pod['spec'])['containers'])

  it('may get another image, which counts as a new generation', () => {
    const next = changed(pod, { containers: [{ ...container, image: 'img:2' }] })
    strategy.prepareUpdate(next, pod, CONTEXT)
    expect(texts(next, pod)).toEqual([])
    expect(next.metadata.generation).toBe(2)
  })

  it('keeps its status and generation when only labels change', () => {
    const next = cloneJson(pod)
    next.metadata.labels = { a: 'b' }
    next['status'] = { phase: 'Running' }
    strategy.prepareUpdate(next, pod, CONTEXT)
    expect(next).toMatchObject({ metadata: { generation: 1 }, status: { phase: 'Pending' } })
  })

  it.each<[JsonObject, RegExp]>([
    [{ nodeName: 'x' }, /^spec: Forbidden: pod updates may not change fields other than/],
    [{ containers: [{ ...container, env: [{ name: 'A', value: '1' }] }] }, /^spec: Forbidden: pod updates/],
    [
      { containers: [container ?? {}, { ...container, name: 'd' }] },
      /^spec.containers: Forbidden: pod updates may not add/,
    ],
    [{ tolerations: [] }, /^spec.tolerations: Forbidden: existing toleration can not be modified/],
    [{ activeDeadlineSeconds: 200 }, /must be less than or equal to previous value/],
    [{ schedulingGates: [{ name: 'x.y/z' }] }, /only deletion is allowed, but found new scheduling gate 'x.y\/z'/],
  ])('is refused %j', (spec, message) => {
    expect(texts(changed(pod, spec), pod).join('\n')).toMatch(message)
  })

  it('may get a shorter deadline and more tolerations', () => {
    const tolerations = [...objectsIn(asObject(pod['spec'])['tolerations']), { key: 'n', operator: 'Exists' }]
    expect(texts(changed(pod, { activeDeadlineSeconds: 50, tolerations }), pod)).toEqual([])
  })
})

describe('a write to the status of a pod', () => {
  it('moves nothing but status and metadata', () => {
    const pod = created({ containers: ONE })
    const next = changed(pod, { nodeName: 'x' })
    next['status'] = { phase: 'Running' }
    strategy.prepareStatusUpdate(next, pod)
    expect(next['spec']).toEqual(pod['spec'])
    expect(next['status']).toEqual({ phase: 'Running', qosClass: 'BestEffort' })
  })
})

describe('qosClassOf', () => {
  const amounts = { cpu: '1', memory: '1Gi' }
  it.each<[JsonObject, string]>([
    [{}, 'BestEffort'],
    [{ requests: { cpu: '1' } }, 'Burstable'],
    [{ limits: amounts, requests: amounts }, 'Guaranteed'],
    [{ limits: amounts, requests: { ...amounts, cpu: '500m' } }, 'Burstable'],
  ])('reads %j as %s', (resources, expected) => {
    expect(qosClassOf({ containers: [{ name: 'c', resources }] })).toBe(expected)
  })
})
