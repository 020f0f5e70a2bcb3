import type { Json, KubeObject } from '#libs/kube-model'

import { asNumber, asString, at, objectsIn } from '../schema/json-shape.ts'
import { ageOf, humanDuration } from './age.ts'
import { conditionsOf, containerCells, labelText, NONE, selectorText } from './cell.ts'
import type { Cells } from './cell.ts'

const nameOf = (object: KubeObject): string => object.metadata.name ?? ''
const ageCell = (object: KubeObject, nowMs: number): string => ageOf(object.metadata.creationTimestamp, nowMs)
const specNumber = (object: KubeObject, name: string): number => asNumber(at(object, 'spec', name))
const statusNumber = (object: KubeObject, name: string): number => asNumber(at(object, 'status', name))
const templateCells = (object: KubeObject): [string, string] => containerCells(at(object, 'spec', 'template', 'spec'))

const deployment: Cells = (object, nowMs) => [
  nameOf(object),
  `${statusNumber(object, 'readyReplicas')}/${specNumber(object, 'replicas')}`,
  statusNumber(object, 'updatedReplicas'),
  statusNumber(object, 'availableReplicas'),
  ageCell(object, nowMs),
  ...templateCells(object),
  selectorText(at(object, 'spec', 'selector')),
]

const replicas = (object: KubeObject, nowMs: number): Json[] => [
  nameOf(object),
  specNumber(object, 'replicas'),
  statusNumber(object, 'replicas'),
  statusNumber(object, 'readyReplicas'),
  ageCell(object, nowMs),
  ...templateCells(object),
]

const statefulSet: Cells = (object, nowMs) => [
  nameOf(object),
  `${statusNumber(object, 'readyReplicas')}/${specNumber(object, 'replicas')}`,
  ageCell(object, nowMs),
  ...templateCells(object),
]

const daemonSet: Cells = (object, nowMs) => [
  nameOf(object),
  statusNumber(object, 'desiredNumberScheduled'),
  statusNumber(object, 'currentNumberScheduled'),
  statusNumber(object, 'numberReady'),
  statusNumber(object, 'updatedNumberScheduled'),
  statusNumber(object, 'numberAvailable'),
  labelText(at(object, 'spec', 'template', 'spec', 'nodeSelector')),
  ageCell(object, nowMs),
  ...templateCells(object),
  selectorText(at(object, 'spec', 'selector')),
]

function jobStatus(job: KubeObject): string {
  const conditions = conditionsOf(job)
  const holds = (type: string): boolean => conditions.get(type)?.['status'] === 'True'
  if (holds('Complete')) return 'Complete'
  if (holds('Failed')) return 'Failed'
  if (job.metadata.deletionTimestamp !== undefined) return 'Terminating'
  if (holds('Suspended')) return 'Suspended'
  if (holds('FailureTarget')) return 'FailureTarget'
  return holds('SuccessCriteriaMet') ? 'SuccessCriteriaMet' : 'Running'
}

function jobDuration(job: KubeObject, nowMs: number): string {
  const start = at(job, 'status', 'startTime')
  const end = at(job, 'status', 'completionTime')
  if (typeof start !== 'string') return ''
  const endMs = typeof end === 'string' ? Date.parse(end) : nowMs
  return humanDuration((endMs - Date.parse(start)) / 1000)
}

const job: Cells = (object, nowMs) => {
  const completions = at(object, 'spec', 'completions')
  const wanted = typeof completions === 'number' ? String(completions) : `1 of ${specNumber(object, 'parallelism')}`
  return [
    nameOf(object),
    jobStatus(object),
    `${statusNumber(object, 'succeeded')}/${wanted}`,
    jobDuration(object, nowMs),
    ageCell(object, nowMs),
    ...templateCells(object),
    selectorText(at(object, 'spec', 'selector')),
  ]
}

const cronJob: Cells = (object, nowMs) => {
  const last = at(object, 'status', 'lastScheduleTime')
  const template = at(object, 'spec', 'jobTemplate', 'spec')
  return [
    nameOf(object),
    asString(at(object, 'spec', 'schedule')),
    asString(at(object, 'spec', 'timeZone')) || NONE,
    at(object, 'spec', 'suspend') === true ? 'True' : 'False',
    objectsIn(at(object, 'status', 'active')).length,
    typeof last === 'string' ? ageOf(last, nowMs) : NONE,
    ageCell(object, nowMs),
    ...containerCells(at(template, 'template', 'spec')),
    selectorText(at(template, 'selector')),
  ]
}

/** Cells of the kinds that run pods, by resource token. */
export const WORKLOAD_CELLS: Record<string, Cells> = {
  'deployments.apps': deployment,
  'replicasets.apps': (object, nowMs) => [...replicas(object, nowMs), selectorText(at(object, 'spec', 'selector'))],
  replicationcontrollers: (object, nowMs) => [...replicas(object, nowMs), labelText(at(object, 'spec', 'selector'))],
  'statefulsets.apps': statefulSet,
  'daemonsets.apps': daemonSet,
  'jobs.batch': job,
  'cronjobs.batch': cronJob,
}
