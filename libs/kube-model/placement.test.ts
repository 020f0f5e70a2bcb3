import { describe, expect, test } from 'vitest'
import type { KubeObject } from './kube-object.ts'
import { type NodeSelectorRequirement, selectsNode, toleratesTaint } from './placement.ts'

const node: KubeObject = { metadata: { name: 'n1', labels: { zone: 'a', cores: '8' } } }
const asked = (
  ...terms: { matchExpressions?: NodeSelectorRequirement[]; matchFields?: NodeSelectorRequirement[] }[]
) => ({
  affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: terms } } },
})

describe('a node is selected', () => {
  test.each<[NodeSelectorRequirement, boolean]>([
    [{ key: 'zone', operator: 'In', values: ['a', 'b'] }, true],
    [{ key: 'zone', operator: 'In', values: ['b'] }, false],
    [{ key: 'zone', operator: 'NotIn', values: ['b'] }, true],
    [{ key: 'rack', operator: 'NotIn', values: ['b'] }, true],
    [{ key: 'zone', operator: 'NotIn', values: ['a'] }, false],
    [{ key: 'zone', operator: 'Exists' }, true],
    [{ key: 'rack', operator: 'Exists' }, false],
    [{ key: 'rack', operator: 'DoesNotExist' }, true],
    [{ key: 'cores', operator: 'Gt', values: ['7'] }, true],
    [{ key: 'cores', operator: 'Gt', values: ['8'] }, false],
    [{ key: 'cores', operator: 'Lt', values: ['9'] }, true],
    [{ key: 'zone', operator: 'Lt', values: ['9'] }, false],
    [{ key: 'zone', operator: 'Like', values: ['a'] }, false],
  ])('%j: %s', (requirement, expected) => {
    expect(selectsNode(asked({ matchExpressions: [requirement] }), node)).toBe(expected)
  })

  test('by all requirements of any term, by its name, and by none that is empty', () => {
    const [inA, inB] = ['a', 'b'].map((zone) => ({ key: 'zone', operator: 'In', values: [zone] }))
    if (inA === undefined || inB === undefined) throw new Error('unreachable')
    const named = { key: 'metadata.name', operator: 'In', values: ['n1'] }
    expect(
      selectsNode(asked({ matchExpressions: [inB] }, { matchExpressions: [inA], matchFields: [named] }), node),
    ).toBe(true)
    expect(selectsNode(asked({ matchExpressions: [inB], matchFields: [named] }), node)).toBe(false)
    expect(selectsNode(asked({}), node)).toBe(false)
    expect(selectsNode(asked(), node)).toBe(false)
  })

  test('by labels, and by all where nothing is asked', () => {
    expect(selectsNode({ nodeSelector: { zone: 'a' } }, node)).toBe(true)
    expect(selectsNode({ nodeSelector: { zone: 'a', rack: 'r' } }, node)).toBe(false)
    expect(selectsNode(undefined, node)).toBe(true)
  })
})

describe('a taint is tolerated', () => {
  const taint = { key: 'gpu', value: 'yes', effect: 'NoSchedule' }
  test.each([
    [{ key: 'gpu', value: 'yes' }, true],
    [{ key: 'gpu', value: 'no' }, false],
    [{ key: 'gpu', value: 'yes', effect: 'NoExecute' }, false],
    [{ key: 'gpu', operator: 'Exists', effect: 'NoSchedule' }, true],
    [{ operator: 'Exists' }, true],
    [{ key: 'cpu', operator: 'Exists' }, false],
  ])('by %j: %s', (toleration, expected) => {
    expect(toleratesTaint([toleration], taint)).toBe(expected)
  })

  test('by nothing where there are no tolerations', () => {
    expect(toleratesTaint(undefined, taint)).toBe(false)
  })
})
