import { describe, expect, it } from 'vitest'
import type { Node, Pod } from './pod.ts'
import { needsPlacement, placePod } from './scheduling.ts'
import { nodeName, nodeStatus, simulatedNode } from './simulated-node.ts'

const nodes = [0, 1, 2].map((index): Node => ({ ...simulatedNode(index), status: nodeStatus(index, undefined, 0) }))
const pod = (spec: Pod['spec'] & object = {}): Pod => ({ metadata: { name: 'web' }, spec })
const place = (spec: Pod['spec'] & object, counts: Record<string, number> = {}, among = nodes): string => {
  const placement = placePod(pod(spec), among, (node) => counts[node] ?? 0)
  return placement.kind === 'node' ? placement.name : placement.message
}
const inZone = (operator: string, ...values: string[]): Pod['spec'] & object => ({
  affinity: {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [{ matchExpressions: [{ key: 'topology.kubernetes.io/zone', operator, values }] }],
      },
    },
  },
})

describe('placePod', () => {
  it('takes the node with the fewest pods', () => {
    expect(place({}, { [nodeName(0)]: 2, [nodeName(1)]: 1, [nodeName(2)]: 3 })).toBe(nodeName(1))
  })

  it.each([
    ['a node selector', { nodeSelector: { 'kubernetes.io/hostname': nodeName(2) } }, nodeName(2)],
    ['affinity In', inZone('In', 'zone-b'), nodeName(1)],
    ['affinity NotIn', inZone('NotIn', 'zone-a', 'zone-b'), nodeName(2)],
  ])('honours %s', (_title, spec, expected) => {
    expect(place(spec)).toBe(expected)
  })

  it('counts why no node takes the pod', () => {
    expect(place({ nodeSelector: { disk: 'fast' } })).toBe(
      "0/3 nodes are available: 3 node(s) didn't match Pod's node affinity/selector.",
    )
    const full = Object.fromEntries(nodes.map((node) => [node.metadata.name, 1000]))
    expect(place({}, full)).toBe('0/3 nodes are available: 3 Too many pods.')
  })

  it('respects taints and cordons unless they are tolerated', () => {
    const taint = { key: 'dedicated', value: 'gpu', effect: 'NoSchedule' }
    const [first, second] = nodes
    const marked: Node[] = [
      { ...first, metadata: first?.metadata ?? {}, spec: { taints: [taint] } },
      { ...second, metadata: second?.metadata ?? {}, spec: { unschedulable: true } },
    ]
    expect(place({}, {}, marked)).toBe(
      '0/2 nodes are available: 1 node(s) had untolerated taint(s), 1 node(s) were unschedulable.',
    )
    expect(place({ tolerations: [{ key: 'dedicated', value: 'gpu' }] }, {}, marked)).toBe(nodeName(0))
    expect(place({ tolerations: [{ operator: 'Exists' }] }, { [nodeName(0)]: 1 }, marked)).toBe(nodeName(1))
  })
})

describe('needsPlacement', () => {
  it.each([
    ['a new pod', pod(), true],
    ['a bound pod', pod({ nodeName: 'other' }), false],
    ['a pod of another scheduler', pod({ schedulerName: 'mine' }), false],
    ['a gated pod', pod({ schedulingGates: [{ name: 'quota' }] }), false],
    ['a deleted pod', { metadata: { deletionTimestamp: '2025-01-01T00:00:00Z' } }, false],
  ])('for %s is %s', (_title, candidate, expected) => {
    expect(needsPlacement(candidate)).toBe(expected)
  })
})
