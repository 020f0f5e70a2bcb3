import { describe, expect, test } from 'vitest'
import type { JsonObject, KubeObject } from '#libs/kube-model'
import { parseTenantConfig } from '#libs/sync-config'
import { TENANT, memoryRelated } from '../../testing/index.ts'
import type { View } from '../../view.ts'
import { decideNode } from './decide-node.ts'

const key = { resource: 'nodes', namespace: '', name: 'worker-1' }
const taint = { key: 'dedicated', value: 'team-a', effect: 'NoSchedule' }
const hostNode: KubeObject = {
  metadata: { name: 'worker-1', labels: { pool: 'gold', 'kubernetes.io/arch': 'arm64', 'causeway.dev/own': 'x' } },
  spec: {
    unschedulable: true,
    taints: [taint, { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' }],
    podCIDR: '10.0.0.0/24',
  },
  status: {
    capacity: { cpu: '4' },
    conditions: [{ type: 'Ready', status: 'True' }],
    images: [{ names: ['registry.example.com/secret:1'], sizeBytes: 1 }],
  },
}

function viewOf(config: JsonObject, states: Partial<View> = {}): View {
  const parsed = parseTenantConfig(config)
  if (parsed.config === undefined) throw new Error(JSON.stringify(parsed.problems))
  return {
    tenant: { ...TENANT, config: parsed.config },
    key,
    virtual: { seq: 0 },
    host: { object: hostNode, seq: 20 },
    related: memoryRelated(),
    waitedMs: 0,
    ...states,
  }
}

const nodes = (options: JsonObject): JsonObject => ({ sync: { fromHost: { nodes: { enabled: true, ...options } } } })
const dedicated = (pool: string): JsonObject => ({
  ...nodes({ selector: { all: true } }),
  nodes: { model: 'dedicated', selector: { pool } },
})

function made(config: JsonObject): { node: KubeObject; base: JsonObject } {
  const [decision] = decideNode(viewOf(config))
  if (decision?.kind !== 'write' || decision.write.op !== 'create') throw new Error('not created')
  const { body } = decision.write
  return { node: { ...body, metadata: { ...body.metadata, uid: 'node-uid' } }, base: decision.base ?? {} }
}

describe('a node that no pod of the tenant runs on is shown', () => {
  test.each<[string, JsonObject, boolean]>([
    ['to nobody by default', {}, false],
    ['to nobody by the switch alone', nodes({}), false],
    ['where all are', nodes({ selector: { all: true } }), true],
    ['by its labels', nodes({ selector: { labels: { pool: 'gold' } } }), true],
    ['not with other labels', nodes({ selector: { labels: { pool: 'iron' } } }), false],
    ['to the tenant that it is dedicated to', dedicated('gold'), true],
    ['to no other dedicated tenant, where all are', dedicated('iron'), false],
  ])('%s', (_how, config, isShown) => {
    expect(decideNode(viewOf(config))).toHaveLength(isShown ? 1 : 0)
  })
})

describe('a real node', () => {
  test('has its labels, taints and images, but nothing that follows from its conditions', () => {
    expect(made(nodes({ selector: { all: true } })).node).toMatchObject({
      metadata: { labels: { pool: 'gold', 'kubernetes.io/arch': 'arm64' } },
      spec: { unschedulable: true, taints: [taint] },
      status: { capacity: { cpu: '4' }, images: [{ sizeBytes: 1 }] },
    })
    const { node } = made(nodes({ selector: { all: true }, clearImageStatus: true }))
    expect(node.metadata.labels).not.toHaveProperty('causeway.dev/own')
    expect(node.spec).not.toHaveProperty('podCIDR')
    expect(node.status).not.toHaveProperty('images')
  })

  test('loses what the host’s loses, and keeps what the tenant’s cluster added', () => {
    const config = nodes({ selector: { all: true } })
    const { node, base } = made(config)
    const own = { key: 'node.kubernetes.io/not-ready', effect: 'NoExecute' }
    const object = {
      ...node,
      metadata: { ...node.metadata, labels: { ...node.metadata.labels, mine: 'yes' } },
      spec: { ...(node.spec as JsonObject), taints: [taint, own] },
    }
    const same = viewOf(config, { virtual: { object, seq: 5 }, base })
    expect(decideNode(same)).toEqual([])
    const bare = { ...hostNode, metadata: { name: 'worker-1', labels: {} }, spec: {} }
    expect(decideNode({ ...same, host: { object: bare, seq: 21 } })).toMatchObject([
      {
        write: {
          body: {
            metadata: { labels: { pool: null, 'kubernetes.io/arch': null } },
            spec: { taints: [own], unschedulable: null },
          },
        },
      },
    ])
  })

  test('that is hidden again goes', () => {
    const { node } = made(nodes({ selector: { all: true } }))
    expect(decideNode(viewOf({}, { virtual: { object: node, seq: 5 } }))).toMatchObject([
      { rule: 'mirrorUnused', write: { op: 'delete', uid: 'node-uid' } },
    ])
  })
})
