import { describe, expect, it } from 'vitest'

import type { Json, JsonObject, KubeObject } from '#libs/kube-model'

import { API_RESOURCES, resourceByToken } from '../discovery/resources.ts'
import { toTable } from './to-table.ts'

const CREATED = '2026-01-01T00:00:00Z'
const NOW = Date.parse('2026-01-01T00:00:05Z')

function tableOf(token: string, fields: JsonObject, includeObject: 'Metadata' | 'Object' | 'None' = 'None') {
  const resource = resourceByToken(token)
  if (resource === undefined) throw new Error(`no resource ${token}`)
  const metadata = { name: 'a', creationTimestamp: CREATED, ...(fields['metadata'] as JsonObject | undefined) }
  const object = { ...fields, metadata } as KubeObject
  return toTable(resource, [object], { includeObject, now: NOW })
}

const cells = (token: string, fields: JsonObject): Json[] | undefined => tableOf(token, fields).rows[0]?.cells

const ONE = { containers: [{ name: 'c', image: 'i:1' }], nodeName: 'n' }
const statusOf = (phase: string, container: JsonObject): JsonObject => ({
  spec: ONE,
  status: { phase, containerStatuses: [{ name: 'c', ready: false, restartCount: 0, ...container }] },
})

describe('the table of pods', () => {
  it.each<[string, string, JsonObject]>([
    ['0/1', 'Pending', { spec: ONE, status: { phase: 'Pending' } }],
    ['0/1', 'ContainerCreating', statusOf('Pending', { state: { waiting: { reason: 'ContainerCreating' } } })],
    ['0/1', 'CrashLoopBackOff', statusOf('Running', { state: { waiting: { reason: 'CrashLoopBackOff' } } })],
    ['0/1', 'Completed', statusOf('Succeeded', { state: { terminated: { exitCode: 0, reason: 'Completed' } } })],
    ['0/1', 'Signal:9', statusOf('Failed', { state: { terminated: { exitCode: 137, signal: 9 } } })],
    ['0/1', 'ExitCode:1', statusOf('Failed', { state: { terminated: { exitCode: 1 } } })],
    ['1/1', 'Running', statusOf('Running', { ready: true, state: { running: {} } })],
    ['0/1', 'Evicted', { spec: ONE, status: { phase: 'Failed', reason: 'Evicted' } }],
    ['0/1', 'Terminating', { metadata: { deletionTimestamp: CREATED }, spec: ONE, status: { phase: 'Running' } }],
    [
      '0/1',
      'Init:0/1',
      {
        spec: { ...ONE, initContainers: [{ name: 'i' }] },
        status: { phase: 'Pending', initContainerStatuses: [{ name: 'i', state: { running: {} } }] },
      },
    ],
  ])('shows %s %s', (ready, status, pod) => {
    expect(cells('pods', pod)?.slice(1, 3)).toEqual([ready, status])
  })

  it('shows restarts, age and place', () => {
    const pod = statusOf('Running', { ready: true, restartCount: 2, state: { running: {} } })
    expect(cells('pods', pod)).toEqual(['a', '1/1', 'Running', '2', '5s', '<none>', 'n', '<none>', '<none>'])
  })
})

describe('toTable', () => {
  it.each<[string, JsonObject, Json[]]>([
    [
      'services',
      {
        spec: {
          type: 'NodePort',
          clusterIP: '10.0.0.1',
          ports: [{ port: 80, nodePort: 30_000, protocol: 'TCP' }],
          selector: { app: 'a' },
        },
      },
      ['a', 'NodePort', '10.0.0.1', '<none>', '80:30000/TCP', '5s', 'app=a'],
    ],
    [
      'services',
      { spec: { type: 'LoadBalancer', clusterIP: '10.0.0.1' } },
      ['a', 'LoadBalancer', '10.0.0.1', '<pending>', '<none>', '5s', '<none>'],
    ],
    ['configmaps', { data: { a: '1' }, binaryData: { b: '' } }, ['a', 2, '5s']],
    ['secrets', { type: 'Opaque', data: { a: '' } }, ['a', 'Opaque', 1, '5s']],
    ['namespaces', { status: { phase: 'Active' } }, ['a', 'Active', '5s']],
    [
      'nodes',
      {
        metadata: { labels: { 'node-role.kubernetes.io/worker': '' } },
        spec: { unschedulable: true },
        status: {
          conditions: [{ type: 'Ready', status: 'True' }],
          addresses: [{ type: 'InternalIP', address: '192.0.2.1' }],
          nodeInfo: {
            kubeletVersion: 'v1',
            osImage: 'os',
            kernelVersion: 'k',
            containerRuntimeVersion: 'cr',
            architecture: 'amd64',
          },
        },
      },
      ['a', 'Ready,SchedulingDisabled', 'worker', '5s', 'v1', '192.0.2.1', '<none>', 'os', 'k (amd64)', 'cr'],
    ],
    [
      'deployments.apps',
      {
        spec: { replicas: 2, selector: { matchLabels: { app: 'a' } }, template: { spec: ONE } },
        status: { readyReplicas: 1, updatedReplicas: 2 },
      },
      ['a', '1/2', 2, 0, '5s', 'c', 'i:1', 'app=a'],
    ],
    [
      'events',
      { involvedObject: { kind: 'Pod', name: 'p' }, type: 'Normal', reason: 'R', message: 'hello', count: 2 },
      ['5s', 'Normal', 'R', 'pod/p', '', '', 'hello', '5s', 2, 'a'],
    ],
    [
      'endpoints',
      { subsets: [{ addresses: [{ ip: '192.0.2.1' }], ports: [{ port: 80 }] }] },
      ['a', '192.0.2.1:80', '5s'],
    ],
    ['leases.coordination.k8s.io', { spec: { holderIdentity: 'h' } }, ['a', 'h', '5s']],
    ['serviceaccounts', {}, ['a', '5s']],
  ])('shows %s', (token, fields, expected) => {
    expect(cells(token, fields)).toEqual(expected)
  })

  it('has a cell for every column of every resource', () => {
    const uneven = API_RESOURCES.filter((resource) => {
      const table = toTable(resource, [{ metadata: { name: 'a' } }], { includeObject: 'None', now: NOW })
      return table.rows[0]?.cells.length !== table.columnDefinitions.length
    })
    expect(uneven.map(({ token }) => token)).toEqual([])
  })

  it('carries as much of the object as was asked for', () => {
    const fields = { data: { a: '1' } }
    expect(tableOf('configmaps', fields, 'None').rows[0]?.object).toBeNull()
    expect(tableOf('configmaps', fields, 'Object').rows[0]?.object).toMatchObject(fields)
    expect(tableOf('configmaps', fields, 'Metadata').rows[0]?.object).toEqual({
      kind: 'PartialObjectMetadata',
      apiVersion: 'meta.k8s.io/v1',
      metadata: { name: 'a', creationTimestamp: CREATED },
    })
  })
})
