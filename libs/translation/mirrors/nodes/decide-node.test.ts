import { describe, expect, test } from 'vitest'
import type { KubeObject } from '#libs/kube-model'
import { TENANT, deepFreeze, memoryRelated } from '../../testing/index.ts'
import type { Presence, View } from '../../view.ts'
import { decideNode } from './decide-node.ts'

const key = { resource: 'nodes', namespace: '', name: 'worker-1' }
const pod = { resource: 'pods', namespace: 'default', name: 'web' }
const ready = {
  type: 'Ready',
  status: 'True',
  reason: 'KubeletReady',
  lastHeartbeatTime: 't1',
  lastTransitionTime: 't0',
}

const hostNode: KubeObject = {
  metadata: {
    name: 'worker-1',
    labels: { 'kubernetes.io/arch': 'arm64', 'topology.kubernetes.io/zone': 'z1', 'hosts.example.com/rack': '7' },
  },
  spec: { taints: [{ key: 'dedicated', effect: 'NoSchedule' }] },
  status: {
    capacity: { cpu: '8', memory: '32Gi', pods: '110' },
    allocatable: { cpu: '7', memory: '30Gi', pods: '110' },
    addresses: [
      { type: 'InternalIP', address: '192.0.2.11' },
      { type: 'Hostname', address: 'ip-192-0-2-11' },
    ],
    conditions: [ready],
    nodeInfo: { architecture: 'arm64', kubeletVersion: 'v1.35.2' },
    images: [{ names: ['other-tenants/app'] }],
  },
}

function viewOf(states: {
  virtual?: KubeObject | undefined
  host?: KubeObject | undefined
  used?: boolean
  synced?: boolean
}): View {
  const users = states.used === false ? [] : [{ of: key, by: [pod] }]
  const presence = (object: KubeObject | undefined, seq: number): Presence =>
    object === undefined ? { seq: 0 } : { object, seq }
  return deepFreeze({
    tenant: TENANT,
    key,
    virtual: presence(states.virtual, 10),
    host: presence(states.host, 20),
    related: memoryRelated({ users, synced: states.synced ?? true }),
    waitedMs: 0,
  })
}

function created(host: KubeObject | undefined): KubeObject {
  const [decision] = decideNode(viewOf({ host }))
  if (decision?.kind !== 'write' || decision.write.op !== 'create') throw new Error('not created')
  const { body } = decision.write
  return { ...body, metadata: { ...body.metadata, uid: 'node-uid' } }
}

describe('deciding about a virtual node', () => {
  test("makes it once a pod of the tenant runs there, without what is the host's own business", () => {
    expect(created(hostNode)).toEqual({
      apiVersion: 'v1',
      kind: 'Node',
      metadata: {
        name: 'worker-1',
        uid: 'node-uid',
        labels: {
          'causeway.dev/virtual-node': 'true',
          'kubernetes.io/arch': 'arm64',
          'kubernetes.io/hostname': 'worker-1',
          'topology.kubernetes.io/zone': 'z1',
        },
      },
      spec: {},
      status: {
        capacity: { cpu: '8', memory: '32Gi', pods: '110' },
        allocatable: { cpu: '7', memory: '30Gi', pods: '110' },
        addresses: [
          { type: 'InternalIP', address: '192.0.2.11' },
          { type: 'Hostname', address: 'worker-1' },
        ],
        conditions: [ready],
        nodeInfo: { architecture: 'arm64', kubeletVersion: 'v1.35.2' },
      },
    })
  })

  test('makes none for nodes that the tenant does not use', () => {
    expect(decideNode(viewOf({ host: hostNode, used: false }))).toEqual([])
  })

  test('makes a plain ready one where the host node is not known, and fills it in later', () => {
    const plain = created(undefined)
    expect(plain.status).toMatchObject({ conditions: [{ type: 'Ready', status: 'True' }] })
    expect(decideNode(viewOf({ virtual: plain }))).toEqual([])
    const rules = decideNode(viewOf({ virtual: plain, host: hostNode })).map(
      (decision) => decision.kind === 'write' && decision.write,
    )
    expect(rules).toMatchObject([
      { op: 'patch', body: { metadata: { labels: { 'kubernetes.io/arch': 'arm64' } } } },
      { op: 'patch', subresource: 'status', body: { status: { capacity: { cpu: '8' } } } },
    ])
  })

  test('says nothing while only heartbeats change', () => {
    const beat = {
      ...hostNode,
      status: { ...(hostNode.status as object), conditions: [{ ...ready, lastHeartbeatTime: 't2' }] },
    }
    expect(decideNode(viewOf({ virtual: created(hostNode), host: beat }))).toEqual([])
  })

  test('follows a node that is no longer ready', () => {
    const condition = { ...ready, status: 'Unknown', reason: 'NodeStatusUnknown' }
    const lost = { ...hostNode, status: { ...(hostNode.status as object), conditions: [condition] } }
    const [decision] = decideNode(viewOf({ virtual: created(hostNode), host: lost }))
    expect(decision).toMatchObject({
      rule: 'mirror',
      write: { subresource: 'status', body: { status: { conditions: [condition] } } },
    })
  })

  test('deletes it once nothing of the tenant runs there, but only when all host pods are known', () => {
    const virtual = created(hostNode)
    expect(decideNode(viewOf({ virtual, host: hostNode, used: false, synced: false }))).toEqual([])
    expect(decideNode(viewOf({ virtual, host: hostNode, used: false }))).toMatchObject([
      { rule: 'mirrorUnused', write: { op: 'delete', uid: 'node-uid', proof: { kind: 'state', seq: 10 } } },
    ])
  })

  test('does not keep it for pods of DaemonSets, which are there because it is', () => {
    const virtual = created(hostNode)
    const ownerReferences = [{ apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'agent', uid: 'd', controller: true }]
    const object = { metadata: { name: 'web', namespace: 'default', ownerReferences } }
    const related = memoryRelated({ users: [{ of: key, by: [pod] }], virtual: [{ ref: pod, object }] })
    const [decision] = decideNode({ ...viewOf({ virtual, host: hostNode }), related })
    expect(decision).toMatchObject({ rule: 'mirrorUnused' })
  })

  test('leaves a Node alone that the tenant made itself', () => {
    const virtual: KubeObject = { metadata: { name: 'worker-1', uid: 'u' } }
    expect(decideNode(viewOf({ virtual, host: hostNode }))).toEqual([])
    expect(decideNode(viewOf({ virtual, host: hostNode, used: false }))).toEqual([])
  })
})
