import { describe, expect, it } from 'vitest'

import { cloneJson } from '#libs/kernel'
import type { KubeObject } from '#libs/kube-model'

import { resourceByToken } from '../discovery/resources.ts'
import { applyDefaults } from '../schema/defaults.ts'
import { strategyFor } from './strategies.ts'
import type { StrategyContext } from './strategy.ts'

const CONTEXT: StrategyContext = {
  now: '2026-01-01T00:00:00Z',
  allocateClusterIP: () => '10.96.0.10',
  allocateNodePort: () => 30_000,
  serviceClusterIP: 'allocate',
}

function created(token: string, fields: Partial<KubeObject>): KubeObject {
  const object: KubeObject = cloneJson({ metadata: { name: 'a', uid: 'u-1' }, ...fields })
  const resource = resourceByToken(token)
  if (resource !== undefined) applyDefaults(resource, object)
  strategyFor(token).prepareCreate(object, CONTEXT)
  return object
}

const texts = (token: string, object: KubeObject, previous?: KubeObject): string[] => [
  ...new Set(
    strategyFor(token)
      .validate(object, previous)
      .map(({ field, message }) => `${field}: ${message}`),
  ),
]

const TEMPLATE = { metadata: { labels: { app: 'a' } }, spec: { containers: [{ name: 'c', image: 'i:1' }] } }
const WORKLOAD = { selector: { matchLabels: { app: 'a' } }, template: TEMPLATE }

describe('objects that are created', () => {
  it.each<[string, Partial<KubeObject>, Partial<KubeObject>]>([
    [
      'namespaces',
      {},
      {
        metadata: { labels: { 'kubernetes.io/metadata.name': 'a' } },
        spec: { finalizers: ['kubernetes'] },
        status: { phase: 'Active' },
      } as never,
    ],
    ['deployments.apps', { spec: WORKLOAD, status: { replicas: 9 } }, { metadata: { generation: 1 }, status: {} }],
    [
      'jobs.batch',
      { spec: { template: { spec: { ...TEMPLATE.spec, restartPolicy: 'Never' } } } },
      {
        metadata: { labels: { 'job-name': 'a', 'controller-uid': 'u-1' } },
        spec: { selector: { matchLabels: { 'batch.kubernetes.io/controller-uid': 'u-1' } } },
      } as never,
    ],
    [
      'daemonsets.apps',
      { spec: WORKLOAD },
      { metadata: { annotations: { 'deprecated.daemonset.template.generation': '1' } } },
    ],
    [
      'nodes',
      { status: { capacity: { cpu: '4' } } },
      {
        metadata: {},
        spec: { taints: [{ key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' }] },
        status: { capacity: { cpu: '4' }, allocatable: { cpu: '4' } },
      },
    ],
    [
      'persistentvolumeclaims',
      { spec: {} },
      { metadata: { finalizers: ['kubernetes.io/pvc-protection'] }, status: { phase: 'Pending' } },
    ],
  ])('%s get what the server adds', (token, fields, expected) => {
    expect(created(token, fields)).toMatchObject(expected)
  })

  it.each<[string, Partial<KubeObject>, string[]]>([
    [
      'configmaps',
      { metadata: { name: 'Bad' } },
      [expect.stringMatching(/^metadata.name: Invalid value: "Bad": a lowercase RFC 1123 subdomain/)],
    ],
    ['configmaps', { metadata: {} }, ['metadata.name: Required value: name or generateName is required']],
    [
      'services',
      { metadata: { name: 'a.b' }, spec: { ports: [{ port: 80 }] } },
      ['metadata.name: Invalid value: "a.b": must not contain dots'],
    ],
    [
      'configmaps',
      { metadata: { name: 'a', finalizers: ['nodomain'] } },
      [
        'metadata.finalizers[0]: Invalid value: "nodomain": name is neither a standard finalizer name nor is it fully qualified',
      ],
    ],
    ['configmaps', { data: { '..': 'v' } }, [`data[..]: Invalid value: "..": must not be '..'`]],
    [
      'configmaps',
      { data: { k: 'v' }, binaryData: { k: 'AA==' } },
      ['data[k]: Invalid value: "k": duplicate of key present in binaryData'],
    ],
    ['secrets', { type: 'kubernetes.io/tls', stringData: { 'tls.crt': 'x' } }, ['data[tls.key]: Required value']],
    [
      'secrets',
      { type: 'kubernetes.io/dockerconfigjson', stringData: { '.dockerconfigjson': 'notjson' } },
      [
        `data[.dockerconfigjson]: Invalid value: "<secret contents redacted>": invalid character 'o' in literal null (expecting 'u')`,
      ],
    ],
    [
      'deployments.apps',
      { spec: { ...WORKLOAD, selector: { matchLabels: { app: 'b' } } } },
      ['spec.template.metadata.labels: Invalid value: {"app":"a"}: `selector` does not match template `labels`'],
    ],
    [
      'jobs.batch',
      { spec: { template: TEMPLATE } },
      ['spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"'],
    ],
    [
      'leases.coordination.k8s.io',
      { spec: { leaseDurationSeconds: 0 } },
      ['spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0'],
    ],
    ['endpointslices.discovery.k8s.io', { endpoints: [] }, ['addressType: Required value']],
  ])('%s are refused with %j', (token, fields, expected) => {
    expect(texts(token, created(token, fields))).toEqual(expected)
  })
})

describe('objects that are updated', () => {
  it.each<[string, Partial<KubeObject>, Partial<KubeObject>, string[]]>([
    [
      'configmaps',
      { immutable: true, data: { a: '1' } },
      { immutable: true, data: { a: '2' } },
      ['data: Forbidden: field is immutable when `immutable` is set'],
    ],
    [
      'configmaps',
      { immutable: true },
      { immutable: false },
      ['immutable: Forbidden: field is immutable when `immutable` is set'],
    ],
    ['secrets', { type: 'a/b' }, { type: 'c/d' }, ['type: Invalid value: "c/d": field is immutable']],
    [
      'configmaps',
      {},
      { metadata: { name: 'a', uid: 'u-2' } },
      ['metadata.uid: Invalid value: "u-2": field is immutable'],
    ],
    [
      'endpointslices.discovery.k8s.io',
      { addressType: 'IPv4' },
      { addressType: 'IPv6' },
      ['addressType: Invalid value: "IPv6": field is immutable'],
    ],
    [
      'statefulsets.apps',
      { spec: { ...WORKLOAD, serviceName: 's' } },
      { spec: { ...WORKLOAD, serviceName: 't' } },
      [expect.stringMatching(/^spec: Forbidden: updates to statefulset spec/)],
    ],
    ['configmaps', { data: { a: '1' } }, { data: { a: '2' } }, []],
  ])('%s that were %j: %j', (token, before, change, expected) => {
    const previous = created(token, before)
    expect(texts(token, created(token, change), previous)).toEqual(expected)
  })

  it('refuses new finalizers on an object that is being deleted', () => {
    const previous = created('configmaps', {
      metadata: { name: 'a', deletionTimestamp: 'then', finalizers: ['x.y/a'] },
    })
    const next = cloneJson(previous)
    next.metadata.finalizers = ['x.y/a', 'x.y/b']
    expect(texts('configmaps', next, previous)).toEqual([
      'metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"x.y/b"}',
    ])
  })

  it('ignores the status, and labels in writes to the status of a Deployment', () => {
    const strategy = strategyFor('deployments.apps')
    const previous = created('deployments.apps', { spec: WORKLOAD })
    const next = cloneJson(previous)
    next['status'] = { replicas: 3 }
    strategy.prepareUpdate(next, previous, CONTEXT)
    expect(next['status']).toEqual({})
    next['status'] = { replicas: 3 }
    next.metadata.labels = { changed: 'x' }
    strategy.prepareStatusUpdate(next, previous)
    expect(next['status']).toEqual({ replicas: 3 })
    expect(next.metadata.labels).toBeUndefined()
  })
})
