import { describe, expect, it } from 'vitest'
import type { ApiError } from '../api-error.ts'
import { listPage } from './list.ts'
import { createTestCluster } from './testing.ts'

function filled(): ReturnType<typeof createTestCluster> {
  const cluster = createTestCluster()
  cluster.api.create('namespaces', undefined, { metadata: { name: 'default-2' } })
  for (const name of ['d', 'a', 'c', 'b']) cluster.api.create('configmaps', 'default', { metadata: { name } })
  cluster.api.create('configmaps', 'default-2', { metadata: { name: 'a' } })
  return cluster
}

const names = (items: readonly { namespace: string; name: string }[]): string[] =>
  items.map(({ namespace, name }) => `${namespace}/${name}`)

function refusalOf(run: () => unknown): ApiError | undefined {
  try {
    run()
  } catch (error) {
    return error as ApiError
  }
  return undefined
}

describe('listPage', () => {
  it('shows the same revision on all pages, whatever happens meanwhile', () => {
    const cluster = filled()
    const first = listPage(cluster, { resource: 'configmaps', limit: 2 })
    expect(names(first.items)).toEqual(['default/a', 'default/b'])
    expect(first.remaining).toBe(3)
    cluster.api.delete('configmaps', 'default', 'c')
    cluster.api.create('configmaps', 'default', { metadata: { name: 'e' } })
    const second = listPage(cluster, { resource: 'configmaps', limit: 2, continue: first.continue })
    expect(names(second.items)).toEqual(['default/c', 'default/d'])
    const third = listPage(cluster, { resource: 'configmaps', limit: 2, continue: second.continue })
    expect(names(third.items)).toEqual(['default-2/a'])
    expect(third.continue).toBeUndefined()
    expect(new Set([first.revision, second.revision, third.revision]).size).toBe(1)
  })

  it('pages through one namespace', () => {
    const cluster = filled()
    const first = listPage(cluster, { resource: 'configmaps', namespace: 'default', limit: 3 })
    const rest = listPage(cluster, { resource: 'configmaps', namespace: 'default', continue: first.continue })
    expect(names([...first.items, ...rest.items])).toEqual(['default/a', 'default/b', 'default/c', 'default/d'])
  })

  it('answers 410 with a token for the rest when the revision is compacted', () => {
    const cluster = filled()
    const first = listPage(cluster, { resource: 'configmaps', namespace: 'default', limit: 3 })
    cluster.api.create('configmaps', 'default', { metadata: { name: 'e' } })
    cluster.store.compact(0)
    const refusal = refusalOf(() =>
      listPage(cluster, { resource: 'configmaps', namespace: 'default', continue: first.continue }),
    )
    expect(refusal?.code).toBe(410)
    const token = refusal?.status.metadata['continue']
    const rest = listPage(cluster, { resource: 'configmaps', namespace: 'default', continue: token as string })
    expect(names(rest.items)).toEqual(['default/d', 'default/e'])
  })
})
