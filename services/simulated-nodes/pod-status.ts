import type { Condition, Container, Pod } from './pod.ts'
import { toTimestamp } from './pod.ts'

/** Addresses and times of a pod's simulated run. */
export type PodRun = { podIP: string; hostIP: string; startedMs: number }

type Status = Record<string, unknown>

/** The status of a pod whose containers run. Conditions of others are kept; readiness gates are honoured. */
export function runningStatus(pod: Pod, run: PodRun, nowMs: number): Status {
  const startedAt = toTimestamp(run.startedMs)
  const open = (pod.spec?.readinessGates ?? []).filter(({ conditionType }) => !isTrue(pod, conditionType))
  const ready: Condition =
    open.length === 0
      ? { type: 'Ready', status: 'True' }
      : {
          type: 'Ready',
          status: 'False',
          reason: 'ReadinessGatesNotReady',
          message: open
            .map(
              ({ conditionType }) => `corresponding condition of pod readiness gate "${conditionType}" does not exist.`,
            )
            .join(', '),
        }
  return {
    phase: 'Running',
    conditions: withConditions(pod, [...startedConditions('True'), ready], nowMs),
    ...addresses(run),
    startTime: startedAt,
    ...initContainerStatuses(pod, startedAt),
    containerStatuses: (pod.spec?.containers ?? []).map((container) => running(pod, container, startedAt)),
  }
}

/** The status of a pod that was taken by its node but waits for what it mounts. */
export function creatingStatus(pod: Pod, run: Pick<PodRun, 'hostIP' | 'startedMs'>, nowMs: number): Status {
  const names = (pod.spec?.containers ?? []).map(({ name }) => name).join(' ')
  const unready = { reason: 'ContainersNotReady', message: `containers with unready status: [${names}]` }
  return {
    phase: 'Pending',
    conditions: withConditions(
      pod,
      [
        { type: 'PodReadyToStartContainers', status: 'False' },
        { type: 'Initialized', status: 'True' },
        { type: 'Ready', status: 'False', ...unready },
        { type: 'ContainersReady', status: 'False', ...unready },
        { type: 'PodScheduled', status: 'True' },
      ],
      nowMs,
    ),
    hostIP: run.hostIP,
    hostIPs: [{ ip: run.hostIP }],
    startTime: toTimestamp(run.startedMs),
    containerStatuses: (pod.spec?.containers ?? []).map(({ name, image = '' }) => ({
      name,
      image,
      imageID: '',
      ready: false,
      started: false,
      restartCount: 0,
      state: { waiting: { reason: 'ContainerCreating' } },
      lastState: {},
    })),
  }
}

/** The status of a pod whose containers ended with exit code 0. */
export function succeededStatus(pod: Pod, run: PodRun, nowMs: number): Status {
  const startedAt = toTimestamp(run.startedMs)
  const done = { status: 'False', reason: 'PodCompleted' } as const
  return {
    phase: 'Succeeded',
    conditions: withConditions(
      pod,
      [
        { type: 'PodReadyToStartContainers', status: 'False' },
        { type: 'Initialized', status: 'True', reason: 'PodCompleted' },
        { type: 'Ready', ...done },
        { type: 'ContainersReady', ...done },
        { type: 'PodScheduled', status: 'True' },
      ],
      nowMs,
    ),
    ...addresses(run),
    startTime: startedAt,
    ...initContainerStatuses(pod, startedAt),
    containerStatuses: (pod.spec?.containers ?? []).map((container) =>
      terminated(pod, container, { startedAt, finishedAt: toTimestamp(nowMs) }),
    ),
  }
}

/** The conditions of a pod that no node takes. */
export function unschedulableStatus(pod: Pod, message: string, nowMs: number): Status {
  return {
    conditions: withConditions(
      pod,
      [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message }],
      nowMs,
    ),
  }
}

function startedConditions(status: 'True'): Condition[] {
  return ['PodReadyToStartContainers', 'Initialized', 'ContainersReady', 'PodScheduled'].map((type) => ({
    type,
    status,
  }))
}

/** The pod's conditions with these set; a transition time moves only when the status changes. */
function withConditions(pod: Pod, conditions: readonly Condition[], nowMs: number): Condition[] {
  const current = pod.status?.conditions ?? []
  const set = conditions.map((condition) => {
    const before = current.find(({ type }) => type === condition.type)
    const isSame = before?.status === condition.status && before.lastTransitionTime !== undefined
    return {
      lastProbeTime: null,
      ...condition,
      lastTransitionTime: isSame ? (before.lastTransitionTime ?? '') : toTimestamp(nowMs),
    }
  })
  return [...current.filter(({ type }) => !conditions.some((condition) => condition.type === type)), ...set]
}

function isTrue(pod: Pod, type: string): boolean {
  return (pod.status?.conditions ?? []).some((condition) => condition.type === type && condition.status === 'True')
}

function addresses({ podIP, hostIP }: PodRun): Status {
  return { hostIP, hostIPs: [{ ip: hostIP }], podIP, podIPs: [{ ip: podIP }] }
}

/** Init containers have ended; those that restart always are sidecars and run on. */
function initContainerStatuses(pod: Pod, startedAt: string): Status {
  const containers = pod.spec?.initContainers ?? []
  if (containers.length === 0) return {}
  return {
    initContainerStatuses: containers.map((container) =>
      container.restartPolicy === 'Always'
        ? running(pod, container, startedAt)
        : { ...terminated(pod, container, { startedAt, finishedAt: startedAt }), ready: true },
    ),
  }
}

function running(pod: Pod, container: Container, startedAt: string): Status {
  return {
    ...identity(pod, container),
    // Without them API servers take the node for one that cannot resize.
    resources: container.resources ?? {},
    ready: true,
    started: true,
    restartCount: 0,
    state: { running: { startedAt } },
    lastState: {},
  }
}

function terminated(pod: Pod, container: Container, times: { startedAt: string; finishedAt: string }): Status {
  const { containerID } = identity(pod, container)
  return {
    ...identity(pod, container),
    ready: false,
    started: false,
    restartCount: 0,
    state: { terminated: { exitCode: 0, reason: 'Completed', ...times, containerID } },
    lastState: {},
  }
}

/** The id says that no container is behind it. */
function identity(
  pod: Pod,
  { name, image = '' }: Container,
): { name: string; image: string; imageID: string; containerID: string } {
  return { name, image, imageID: `simulated://${image}`, containerID: `simulated://${pod.metadata.uid ?? ''}/${name}` }
}
