import { expect, test } from 'vitest'
import type { DecisionKey } from '#libs/projection'
import { Batch } from './batch.ts'

const keyOf = (tenant: string, resource: string, name: string): DecisionKey => ({
  tenant,
  ref: { resource, namespace: 'default', name },
})

test('tenants take turns, and of each what others need comes first', () => {
  const batch = new Batch()
  const greedy = ['a', 'b', 'c'].map((name) => keyOf('greedy', 'pods', name))
  const keys = [...greedy, keyOf('greedy', 'configmaps', 'd'), keyOf('other', 'pods', 'x'), keyOf('third', 'pods', 'y')]
  batch.add(keys, { seq: 1, observedAt: 0, loggedAt: 0 })
  expect(batch.inOrder().map(({ key }) => key.ref.name)).toEqual(['d', 'x', 'y', 'a', 'b', 'c'])
})
