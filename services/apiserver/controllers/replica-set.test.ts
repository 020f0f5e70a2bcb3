import { describe, expect, it } from 'vitest'
import type { Pod } from './pods.ts'
import { STEP_SIZE, nextAvailabilityMs, nextReplicaStep, replicaSetStatus } from './replica-set.ts'
import type { ReplicaSet } from './replica-set.ts'

const nowMs = Date.parse('2025-01-01T00:01:00Z')
const replicaSet = (replicas: number, minReadySeconds = 0): ReplicaSet => ({
  metadata: { name: 'web', generation: 2 },
  spec: { replicas, minReadySeconds },
})

type Traits = {
  phase?: string
  node?: string
  readyAt?: string
  cost?: string
  createdAt?: string
  isDeleting?: boolean
}

function pod(name: string, traits: Traits = {}): Pod {
  const { phase = 'Running', node = `node-of-${name}`, readyAt, cost, createdAt, isDeleting } = traits
  return {
    metadata: {
      name,
      creationTimestamp: createdAt ?? '2025-01-01T00:00:00Z',
      ...(cost === undefined ? {} : { annotations: { 'controller.kubernetes.io/pod-deletion-cost': cost } }),
      ...(isDeleting ? { deletionTimestamp: '2025-01-01T00:00:30Z' } : {}),
    },
    spec: node === '' ? {} : { nodeName: node },
    status: {
      phase,
      conditions: readyAt === undefined ? [] : [{ type: 'Ready', status: 'True', lastTransitionTime: readyAt }],
    },
  }
}

describe('nextReplicaStep', () => {
  it('makes what is missing, in steps', () => {
    expect(nextReplicaStep(replicaSet(3), [pod('a')])).toEqual({ kind: 'create', count: 2 })
    expect(nextReplicaStep(replicaSet(1000), [])).toEqual({ kind: 'create', count: STEP_SIZE })
  })

  it('replaces pods that ended or are being deleted', () => {
    const pods = [pod('a', { phase: 'Failed' }), pod('b', { isDeleting: true }), pod('c')]
    expect(nextReplicaStep(replicaSet(2), pods)).toEqual({ kind: 'create', count: 1 })
  })

  it.each<[string, Pod[]]>([
    ['one without a node', [pod('keep'), pod('go', { node: '' })]],
    ['one that does not run', [pod('keep'), pod('go', { phase: 'Pending' })]],
    ['one that is not ready', [pod('keep', { readyAt: '2025-01-01T00:00:10Z' }), pod('go')]],
    ['one with a lower deletion cost', [pod('keep', { cost: '5' }), pod('go', { cost: '-5' })]],
    [
      'one that became ready later',
      [pod('keep', { readyAt: '2025-01-01T00:00:10Z' }), pod('go', { readyAt: '2025-01-01T00:00:20Z' })],
    ],
    ['the newer one', [pod('keep'), pod('go', { createdAt: '2025-01-01T00:00:05Z' })]],
  ])('deletes %s first', (_title, pods) => {
    const step = nextReplicaStep(replicaSet(1), pods)
    expect(step.kind === 'delete' && step.pods.map(({ metadata }) => metadata.name)).toEqual(['go'])
  })
})

describe('minReadySeconds', () => {
  const pods = [pod('old', { readyAt: '2025-01-01T00:00:10Z' }), pod('new', { readyAt: '2025-01-01T00:00:50Z' })]

  it('counts a pod as available only after it was ready that long', () => {
    expect(replicaSetStatus(replicaSet(2, 30), pods, { nowMs })).toMatchObject({
      replicas: 2,
      readyReplicas: 2,
      availableReplicas: 1,
      observedGeneration: 2,
    })
  })

  it('wakes when the next pod becomes available', () => {
    expect(nextAvailabilityMs(replicaSet(2, 30), pods, nowMs)).toBe(20_000)
    expect(nextAvailabilityMs(replicaSet(2), pods, nowMs)).toBeUndefined()
  })
})
