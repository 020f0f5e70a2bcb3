import { describe, expect, it } from 'vitest'

import { cloneJson } from '#libs/kernel'
import type { JsonObject, KubeObject } from '#libs/kube-model'

import { applyDefaults } from '../schema/defaults.ts'
import { strategyFor } from './strategies.ts'
import type { StrategyContext } from './strategy.ts'

const CLASSES: Record<string, KubeObject> = {
  high: { metadata: { name: 'high' }, value: 1000, preemptionPolicy: 'Never' },
}

const CONTEXT: StrategyContext = {
  now: '2026-01-01T00:00:00Z',
  allocateClusterIP: () => '10.96.0.10',
  allocateNodePort: () => 30_000,
  serviceClusterIP: 'allocate',
  priorityClass: (name) => (name === undefined ? undefined : CLASSES[name]),
}

function created(spec: JsonObject): KubeObject {
  const pod: KubeObject = { metadata: { name: 'p' }, spec: cloneJson(spec) }
  applyDefaults({ group: '', version: 'v1', kind: 'Pod' }, pod)
  strategyFor('pods').prepareCreate(pod, CONTEXT)
  return pod
}

const CONTAINER = { name: 'c', image: 'i:1', resources: { requests: { cpu: '100m' } } }

/** The pod after a write of this spec to a part of it. */
function written(part: string, pod: KubeObject, spec: JsonObject): { next: KubeObject; problems: string[] } {
  const next: KubeObject = { metadata: { name: 'p' }, spec: cloneJson(spec) }
  applyDefaults({ group: '', version: 'v1', kind: 'Pod' }, next)
  const strategy = strategyFor(`pods/${part}`)
  strategy.prepareUpdate(next, pod, CONTEXT)
  return { next, problems: strategy.validate(next, pod).map(({ field, message }) => `${field}: ${message}`) }
}

describe('pods/resize', () => {
  it('changes resources and nothing else', () => {
    const pod = created({ containers: [CONTAINER] })
    const { next, problems } = written('resize', pod, {
      nodeName: 'x',
      containers: [{ ...CONTAINER, image: 'other', resources: { requests: { cpu: '200m' } } }],
    })
    expect(problems).toEqual([])
    expect(next).toMatchObject({
      metadata: { generation: 2 },
      spec: { containers: [{ image: 'i:1', resources: { requests: { cpu: '200m' } } }] },
    })
    expect(next['spec']).not.toHaveProperty('nodeName')
  })

  it('keeps the quality-of-service class', () => {
    const amounts = { cpu: '1', memory: '1Gi' }
    const pod = created({ containers: [{ ...CONTAINER, resources: { limits: amounts, requests: amounts } }] })
    const resources = { limits: amounts, requests: { ...amounts, cpu: '500m' } }
    expect(written('resize', pod, { containers: [{ ...CONTAINER, resources }] }).problems).toEqual([
      'spec: Forbidden: Pod QOS Class may not change as a result of resizing',
    ])
  })
})

describe('pods/ephemeralcontainers', () => {
  const pod = created({ containers: [CONTAINER] })
  const debug = { name: 'dbg', image: 'busybox' }

  it('adds containers', () => {
    const { next, problems } = written('ephemeralcontainers', pod, { containers: [], ephemeralContainers: [debug] })
    expect(problems).toEqual([])
    expect(next).toMatchObject({ spec: { containers: [CONTAINER], ephemeralContainers: [debug] } })
  })

  it('does not change those that are there', () => {
    const { next } = written('ephemeralcontainers', pod, { containers: [], ephemeralContainers: [debug] })
    const change = { containers: [], ephemeralContainers: [{ ...debug, image: 'other' }] }
    expect(written('ephemeralcontainers', next, change).problems).toEqual([
      'spec.ephemeralContainers: Forbidden: existing ephemeral containers "dbg" may not be changed',
    ])
  })
})

describe('the priority of a pod', () => {
  it('comes from its class', () => {
    expect(created({ containers: [CONTAINER], priorityClassName: 'high' })).toMatchObject({
      spec: { priority: 1000, preemptionPolicy: 'Never' },
    })
    expect(created({ containers: [CONTAINER], priorityClassName: 'system-node-critical' })).toMatchObject({
      spec: { priority: 2_000_001_000, preemptionPolicy: 'PreemptLowerPriority' },
    })
  })

  it.each<[JsonObject, string]>([
    [{ priorityClassName: 'nope' }, 'pods "p" is forbidden: no PriorityClass with name nope was found'],
    [{ priority: 5 }, 'the integer value of priority (5) must not be provided in pod spec'],
  ])('is refused %j', (spec, message) => {
    expect(() => created({ containers: [CONTAINER], ...spec })).toThrow(message)
  })
})
