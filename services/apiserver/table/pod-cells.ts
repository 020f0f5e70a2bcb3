import type { Json, JsonObject, KubeObject } from '#libs/kube-model'

import { asNumber, asObject, asString, at, isObject, objectsIn } from '../schema/json-shape.ts'
import { ageOf } from './age.ts'
import { conditionsOf, NONE, orNone } from './cell.ts'

/** Cells of a Pod. */
export function podCells(pod: KubeObject, nowMs: number): Json[] {
  const summary = summarize(pod)
  const gates = objectsIn(at(pod, 'spec', 'readinessGates'))
  const conditions = conditionsOf(pod)
  const passed = gates.filter((gate) => conditions.get(asString(gate['conditionType']))?.['status'] === 'True').length
  const restarted = summary.lastRestart === undefined ? '' : ` (${ageOf(summary.lastRestart, nowMs)} ago)`
  return [
    pod.metadata.name ?? '',
    `${summary.ready}/${summary.total}`,
    summary.reason,
    `${summary.restarts}${summary.restarts === 0 ? '' : restarted}`,
    ageOf(pod.metadata.creationTimestamp, nowMs),
    orNone(asString(at(pod, 'status', 'podIP'))),
    orNone(asString(at(pod, 'spec', 'nodeName'))),
    orNone(asString(at(pod, 'status', 'nominatedNodeName'))),
    gates.length === 0 ? NONE : `${passed}/${gates.length}`,
  ]
}

type Summary = { ready: number; total: number; restarts: number; reason: string; lastRestart: string | undefined }

const stateOf = (status: JsonObject, name: string): JsonObject | undefined => {
  const state = asObject(status['state'])[name]
  return isObject(state) ? state : undefined
}

/** The STATUS, READY and RESTARTS columns, computed as a server does for `kubectl get`. */
function summarize(pod: KubeObject): Summary {
  const spec = asObject(pod['spec'])
  const status = asObject(pod['status'])
  const sidecars = objectsIn(spec['initContainers']).filter(({ restartPolicy }) => restartPolicy === 'Always')
  const summary: Summary = {
    ready: 0,
    total: objectsIn(spec['containers']).length + sidecars.length,
    restarts: 0,
    reason: asString(status['reason']) || asString(status['phase']),
    lastRestart: undefined,
  }
  const conditions = conditionsOf(pod)
  if (conditions.get('PodScheduled')?.['reason'] === 'SchedulingGated') summary.reason = 'SchedulingGated'
  const isInitializing = summarizeInit(pod, summary, new Set(sidecars.map((container) => asString(container['name']))))
  if (!isInitializing || conditions.get('Initialized')?.['status'] === 'True') summarizeContainers(pod, summary)
  if (pod.metadata.deletionTimestamp !== undefined) {
    if (status['reason'] === 'NodeLost') summary.reason = 'Unknown'
    else if (!['Succeeded', 'Failed'].includes(asString(status['phase']))) summary.reason = 'Terminating'
  }
  return summary
}

/** @returns whether the pod is still running its init containers */
function summarizeInit(pod: KubeObject, summary: Summary, sidecars: ReadonlySet<string>): boolean {
  const total = objectsIn(at(pod, 'spec', 'initContainers')).length
  let initRestarts = 0
  for (const [index, status] of objectsIn(at(pod, 'status', 'initContainerStatuses')).entries()) {
    const isSidecar = sidecars.has(asString(status['name']))
    initRestarts += asNumber(status['restartCount'])
    noteRestart(status, summary)
    const terminated = stateOf(status, 'terminated')
    const waiting = asString(stateOf(status, 'waiting')?.['reason'])
    if (terminated !== undefined && asNumber(terminated['exitCode']) === 0) continue
    if (isSidecar && status['started'] === true) {
      if (status['ready'] === true) summary.ready += 1
      continue
    }
    if (terminated !== undefined) summary.reason = `Init:${terminatedReason(terminated)}`
    else if (waiting !== '' && waiting !== 'PodInitializing') summary.reason = `Init:${waiting}`
    else summary.reason = `Init:${index}/${total}`
    summary.restarts = initRestarts
    return true
  }
  summary.restarts = 0
  for (const status of objectsIn(at(pod, 'status', 'initContainerStatuses'))) {
    if (sidecars.has(asString(status['name']))) summary.restarts += asNumber(status['restartCount'])
  }
  return false
}

function summarizeContainers(pod: KubeObject, summary: Summary): void {
  let isRunning = false
  for (const status of objectsIn(at(pod, 'status', 'containerStatuses')).reverse()) {
    summary.restarts += asNumber(status['restartCount'])
    noteRestart(status, summary)
    const waiting = asString(stateOf(status, 'waiting')?.['reason'])
    const terminated = stateOf(status, 'terminated')
    if (waiting !== '') summary.reason = waiting
    else if (terminated !== undefined) summary.reason = terminatedReason(terminated)
    else if (status['ready'] === true && stateOf(status, 'running') !== undefined) {
      isRunning = true
      summary.ready += 1
    }
  }
  // One container has finished while another runs.
  if (summary.reason === 'Completed' && isRunning) {
    summary.reason = conditionsOf(pod).get('Ready')?.['status'] === 'True' ? 'Running' : 'NotReady'
  }
}

function terminatedReason(terminated: JsonObject): string {
  const reason = asString(terminated['reason'])
  if (reason !== '') return reason
  const signal = asNumber(terminated['signal'])
  return signal === 0 ? `ExitCode:${asNumber(terminated['exitCode'])}` : `Signal:${signal}`
}

function noteRestart(status: JsonObject, summary: Summary): void {
  const finished = at(status, 'lastState', 'terminated', 'finishedAt')
  if (typeof finished !== 'string') return
  if (summary.lastRestart === undefined || finished > summary.lastRestart) summary.lastRestart = finished
}
