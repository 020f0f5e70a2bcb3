import { describe, expect, it } from 'vitest'
import { RUN_SECONDS, nextPodStep } from './pod-step.ts'
import type { Pod } from './pod.ts'

const START = '2025-01-01T00:00:00Z'
const nowMs = Date.parse(START) + 10_000
const options = { nowMs, startedMs: nowMs, latencyMs: 0, terminationMs: 500, jobRunMs: 30_000 }
const running = { phase: 'Running', startTime: START }

const deleted = (graceSeconds: number, agoMs: number): Pod => ({
  metadata: {
    deletionTimestamp: new Date(nowMs - agoMs + graceSeconds * 1000).toISOString(),
    deletionGracePeriodSeconds: graceSeconds,
  },
  status: running,
})

describe('nextPodStep', () => {
  it.each<[string, Pod, object]>([
    ['starts a bound pod', { metadata: {} }, { kind: 'start' }],
    ['leaves a running pod alone', { metadata: {}, status: running }, { kind: 'none' }],
    ['leaves a finished pod alone', { metadata: {}, status: { phase: 'Succeeded' } }, { kind: 'none' }],
    [
      'ends a pod of a Job when its time is over',
      {
        metadata: { labels: { 'batch.kubernetes.io/job-name': 'j' } },
        spec: { restartPolicy: 'Never' },
        status: running,
      },
      { kind: 'wait', ms: 20_000 },
    ],
    [
      'takes the run time from the annotation',
      { metadata: { annotations: { [RUN_SECONDS]: '5' } }, spec: { restartPolicy: 'OnFailure' }, status: running },
      { kind: 'succeed' },
    ],
    [
      'never ends a pod that restarts always',
      { metadata: { annotations: { [RUN_SECONDS]: '5' } }, status: running },
      { kind: 'none' },
    ],
    ['lets a deleted pod end before it removes it', deleted(30, 100), { kind: 'wait', ms: 400 }],
    ['removes a deleted pod that has ended', deleted(30, 500), { kind: 'remove' }],
    ['leaves a removed pod to its finalizers', deleted(0, 500), { kind: 'none' }],
    [
      'reports readiness again when the gates open',
      {
        metadata: {},
        spec: { readinessGates: [{ conditionType: 'open' }] },
        status: {
          ...running,
          conditions: [
            { type: 'open', status: 'True' },
            { type: 'Ready', status: 'False' },
          ],
        },
      },
      { kind: 'start' },
    ],
  ])('%s', (_title, pod, expected) => {
    expect(nextPodStep(pod, options)).toEqual(expected)
  })

  it('takes the latency before it starts', () => {
    expect(nextPodStep({ metadata: {} }, { ...options, latencyMs: 200 })).toEqual({ kind: 'wait', ms: 200 })
  })
})
