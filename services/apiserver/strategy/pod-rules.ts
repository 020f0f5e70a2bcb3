import type { JsonObject, KubeObject } from '#libs/kube-model'

import { ApiError } from '../api-error.ts'
import { asNumber, asObject, asString, ensureObject, objectsIn, setDefault } from '../schema/json-shape.ts'
import { compareQuantities } from '../schema/quantity.ts'
import { specOf } from './create-strategy.ts'
import { validatePodUpdate } from './pod-update.ts'
import type { KindRules, StrategyContext } from './strategy.ts'
import { validatePodSpec } from './validate-pod-spec.ts'

const TAINTS = ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable']
const TOLERATED_SECONDS = 300

/** Values of the priority classes that every cluster has. */
const SYSTEM_PRIORITIES: Record<string, number> = {
  'system-cluster-critical': 2_000_000_000,
  'system-node-critical': 2_000_001_000,
}

export const POD_RULES: KindRules = {
  hasGeneration: true,
  prepareCreate: preparePod,
  prepareUpdate: (next, previous, context) => {
    const status = asObject(next['status'])
    const isReleased = gatesOf(previous) > 0 && gatesOf(next) === 0
    if (isReleased) {
      const conditions = objectsIn(status['conditions']).filter(({ reason }) => reason !== 'SchedulingGated')
      if (conditions.length === 0) delete status['conditions']
      else status['conditions'] = conditions
    } else if (gatesOf(next) > 0) addGatedCondition(status, context.now)
  },
  prepareStatusUpdate: (next, previous) => {
    const { qosClass } = asObject(previous['status'])
    if (qosClass !== undefined) setDefault(ensureObject(next as JsonObject, 'status'), 'qosClass', qosClass)
  },
  validate: (pod) => validatePodSpec(specOf(pod), 'spec'),
  validateUpdate: validatePodUpdate,
}

function gatesOf(pod: KubeObject): number {
  return objectsIn(specOf(pod)['schedulingGates']).length
}

function preparePod(pod: KubeObject, context: StrategyContext): void {
  const spec = ensureObject(pod as JsonObject, 'spec')
  tolerateFailingNodes(spec)
  prioritize(pod, spec, context)
  const status: JsonObject = { phase: 'Pending', qosClass: qosClassOf(spec) }
  if (gatesOf(pod) > 0) addGatedCondition(status, context.now)
  pod['status'] = status
}

/** Fills in the priority of the pod's class. Throws 403 for unknown classes and for priorities that are not the class's. */
function prioritize(pod: KubeObject, spec: JsonObject, context: StrategyContext): void {
  const refuse = (problem: string): ApiError =>
    ApiError.forbidden({ group: '', plural: 'pods' }, pod.metadata.name ?? '', problem)
  const name = asString(spec['priorityClassName'])
  const known = context.priorityClass?.(name === '' ? undefined : name)
  const builtIn = SYSTEM_PRIORITIES[name]
  if (name !== '' && known === undefined && builtIn === undefined) {
    throw refuse(`no PriorityClass with name ${name} was found`)
  }
  if (name === '' && known?.metadata.name !== undefined) spec['priorityClassName'] = known.metadata.name
  const priority = builtIn ?? asNumber(known?.['value'])
  const asked = spec['priority']
  if (typeof asked === 'number' && asked !== priority) {
    throw refuse(
      `the integer value of priority (${asked}) must not be provided in pod spec; priority admission controller computed ${priority} from the given PriorityClass name`,
    )
  }
  spec['priority'] = priority
  setDefault(spec, 'preemptionPolicy', asString(known?.['preemptionPolicy']) || 'PreemptLowerPriority')
}

function tolerateFailingNodes(spec: JsonObject): void {
  const tolerations = objectsIn(spec['tolerations'])
  for (const key of TAINTS) {
    const isTolerated = tolerations.some((toleration) => {
      const { effect } = toleration
      const hasKey =
        toleration['key'] === key || (toleration['key'] === undefined && toleration['operator'] === 'Exists')
      return hasKey && (effect === 'NoExecute' || effect === undefined)
    })
    if (isTolerated) continue
    tolerations.push({ key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: TOLERATED_SECONDS })
  }
  spec['tolerations'] = tolerations
}

function addGatedCondition(status: JsonObject, now: string): void {
  const conditions = objectsIn(status['conditions'])
  if (conditions.some(({ type }) => type === 'PodScheduled')) return
  status['conditions'] = [
    ...conditions,
    {
      type: 'PodScheduled',
      status: 'False',
      lastProbeTime: null,
      lastTransitionTime: now,
      reason: 'SchedulingGated',
      message: 'Scheduling is blocked due to non-empty scheduling gates',
    },
  ]
}

const QOS_RESOURCES = ['cpu', 'memory']

/** The quality-of-service class that follows from requests and limits. */
export function qosClassOf(spec: JsonObject): 'Guaranteed' | 'Burstable' | 'BestEffort' {
  const containers = [...objectsIn(spec['containers']), ...objectsIn(spec['initContainers'])]
  let isAny = false
  let isGuaranteed = true
  for (const container of containers) {
    const resources = asObject(container['resources'])
    const limits = asObject(resources['limits'])
    const requests = asObject(resources['requests'])
    for (const name of QOS_RESOURCES) {
      const limit = amountOf(limits, name)
      const request = amountOf(requests, name)
      if (limit !== undefined || request !== undefined) isAny = true
      if (limit === undefined || request === undefined || compareQuantities(limit, request) !== 0) isGuaranteed = false
    }
  }
  if (!isAny) return 'BestEffort'
  return isGuaranteed ? 'Guaranteed' : 'Burstable'
}

/** Zero counts as nothing. */
function amountOf(amounts: JsonObject, name: string): string | undefined {
  const amount = amounts[name]
  if (typeof amount !== 'string' && typeof amount !== 'number') return undefined
  return compareQuantities(amount, '0') > 0 ? String(amount) : undefined
}
