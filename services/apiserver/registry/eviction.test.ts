import { describe, expect, it } from 'vitest'
import type { KubeObject } from '#libs/kube-model'
import { ApiError } from '../api-error.ts'
import { evictPod } from './pods.ts'
import { createTestCluster, podNamed } from './testing.ts'

const BUDGETS = 'poddisruptionbudgets.policy'

function setUp(status: object, spec: object = {}) {
  const cluster = createTestCluster()
  const { api } = cluster
  const pod = podNamed('p', { nodeName: 'n' })
  api.create('pods', 'default', { ...pod, metadata: { name: 'p', labels: { a: 'b' } } })
  const made = api.create(BUDGETS, 'default', {
    metadata: { name: 'pdb' },
    spec: { minAvailable: 1, selector: { matchLabels: { a: 'b' } }, ...spec },
  })
  api.update(BUDGETS, { ...made, status }, { subresource: 'status' })
  const setReady = (ready: 'True' | 'False'): KubeObject =>
    api.update(
      'pods',
      {
        ...(api.get('pods', 'default', 'p') as KubeObject),
        status: { phase: 'Running', conditions: [{ type: 'Ready', status: ready }] },
      },
      { subresource: 'status' },
    )
  setReady('True')
  const evict = (): void => evictPod(cluster, { namespace: 'default', name: 'p' }, {})
  const refusal = (): unknown => {
    try {
      evict()
    } catch (error) {
      if (error instanceof ApiError) return error.status
      throw error
    }
    return undefined
  }
  return {
    api,
    evict,
    refusal,
    setReady,
    isDeleting: () => api.get('pods', 'default', 'p')?.metadata.deletionTimestamp,
  }
}

describe('evictions', () => {
  it('wait for a budget that is not counted yet', () => {
    const { refusal } = setUp({ disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 })
    expect(refusal()).toMatchObject({
      code: 429,
      details: {
        retryAfterSeconds: 10,
        causes: [{ message: 'The disruption budget pdb is still being processed by the server.' }],
      },
    })
  })

  it('are refused when the budget is spent', () => {
    const status = {
      observedGeneration: 1,
      disruptionsAllowed: 0,
      currentHealthy: 1,
      desiredHealthy: 1,
      expectedPods: 1,
    }
    const { refusal, isDeleting } = setUp(status)
    expect(refusal()).toMatchObject({
      message: "Cannot evict pod as it would violate the pod's disruption budget.",
      details: {
        causes: [
          { reason: 'DisruptionBudget', message: 'The disruption budget pdb needs 1 healthy pods and has 1 currently' },
        ],
      },
    })
    expect(isDeleting()).toBeUndefined()
  })

  it('are taken off the budget', () => {
    const status = {
      observedGeneration: 1,
      disruptionsAllowed: 1,
      currentHealthy: 2,
      desiredHealthy: 1,
      expectedPods: 2,
    }
    const { api, evict, isDeleting } = setUp(status)
    evict()
    expect(isDeleting()).toBeDefined()
    expect(api.get(BUDGETS, 'default', 'pdb')?.['status']).toMatchObject({
      disruptionsAllowed: 0,
      disruptedPods: { p: expect.any(String) as string },
      conditions: [{ type: 'DisruptionAllowed', status: 'False', reason: 'InsufficientPods' }],
    })
  })

  it('of pods that are not ready need no room where the policy says so', () => {
    const status = {
      observedGeneration: 1,
      disruptionsAllowed: 0,
      currentHealthy: 0,
      desiredHealthy: 1,
      expectedPods: 1,
    }
    const { evict, setReady, isDeleting } = setUp(status, { unhealthyPodEvictionPolicy: 'AlwaysAllow' })
    setReady('False')
    evict()
    expect(isDeleting()).toBeDefined()
  })
})
