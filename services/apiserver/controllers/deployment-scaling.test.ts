import { describe, expect, it } from 'vitest'
import { DESIRED_REPLICAS, MAX_REPLICAS, rolloutBounds } from './deployment.ts'
import type { Deployment } from './deployment.ts'
import { isResized, resize, shrinkOld, sizeOfCurrent } from './deployment-scaling.ts'
import type { ReplicaSets, Scaling } from './deployment-scaling.ts'
import type { ReplicaSet } from './replica-set.ts'

type Bounds = { maxSurge?: number | string; maxUnavailable?: number | string }

const deployment = (replicas: number, rollingUpdate: Bounds = {}): Deployment => ({
  metadata: { name: 'web' },
  spec: { replicas, strategy: { type: 'RollingUpdate', rollingUpdate } },
})

function set(
  name: string,
  replicas: number,
  more: { available?: number; desired?: number; max?: number } = {},
): ReplicaSet {
  const { available = replicas, desired = 10, max = 13 } = more
  return {
    metadata: {
      name,
      creationTimestamp: `2025-01-01T00:00:0${name.slice(-1)}Z`,
      annotations: { [DESIRED_REPLICAS]: String(desired), [MAX_REPLICAS]: String(max) },
    },
    spec: { replicas },
    status: { replicas, availableReplicas: available },
  }
}

const sizes = (scalings: readonly Scaling[]): Record<string, number> =>
  Object.fromEntries(scalings.map(({ replicaSet, replicas }) => [replicaSet.metadata.name, replicas]))

describe('rolloutBounds', () => {
  it.each<[number, Bounds, { maxSurge: number; maxUnavailable: number }]>([
    [10, {}, { maxSurge: 3, maxUnavailable: 2 }],
    [1, {}, { maxSurge: 1, maxUnavailable: 0 }],
    [10, { maxSurge: 0, maxUnavailable: 0 }, { maxSurge: 0, maxUnavailable: 1 }],
    [3, { maxSurge: '100%', maxUnavailable: '50%' }, { maxSurge: 3, maxUnavailable: 1 }],
    [2, { maxSurge: 1, maxUnavailable: 5 }, { maxSurge: 1, maxUnavailable: 2 }],
  ])('of %i replicas with %o are %o', (replicas, bounds, expected) => {
    expect(rolloutBounds(deployment(replicas, bounds))).toEqual(expected)
  })
})

describe('a rollout', () => {
  it('starts the current ReplicaSet with what the surge leaves room for', () => {
    expect(sizeOfCurrent(deployment(10), { current: undefined, old: [set('a-1', 10)] })).toBe(3)
  })

  it('grows it as earlier ones shrink', () => {
    expect(sizeOfCurrent(deployment(10), { current: set('b-2', 3), old: [set('a-1', 8)] })).toBe(5)
  })

  it('takes pods from earlier ReplicaSets only as far as enough stay available', () => {
    const sets: ReplicaSets = { current: set('b-2', 3, { available: 0 }), old: [set('a-1', 10)] }
    expect(sizes(shrinkOld(deployment(10), sets))).toEqual({ 'a-1': 8 })
  })

  it('takes pods that are not available first', () => {
    const sets: ReplicaSets = { current: set('c-3', 3), old: [set('a-1', 5), set('b-2', 5, { available: 1 })] }
    expect(sizes(shrinkOld(deployment(10), sets))).toEqual({ 'a-1': 4, 'b-2': 1 })
  })
})

describe('resize', () => {
  it('is due when the deployment has another size than its ReplicaSets know of', () => {
    const sets: ReplicaSets = { current: set('a-1', 10), old: [] }
    expect(isResized(deployment(10), sets)).toBe(false)
    expect(isResized(deployment(11), sets)).toBe(true)
  })

  it('gives a single ReplicaSet the new size', () => {
    expect(sizes(resize(deployment(4), { current: set('a-1', 10), old: [] }))).toEqual({ 'a-1': 4 })
  })

  it('in the middle of a rollout grows each ReplicaSet in proportion', () => {
    const sets: ReplicaSets = { current: set('b-2', 5), old: [set('a-1', 8)] }
    expect(sizes(resize(deployment(20), sets))).toEqual({ 'a-1': 15, 'b-2': 10 })
  })

  it('to nothing takes everything away', () => {
    const sets: ReplicaSets = { current: set('b-2', 5), old: [set('a-1', 8)] }
    expect(sizes(resize(deployment(0), sets))).toEqual({ 'a-1': 0, 'b-2': 0 })
  })
})
