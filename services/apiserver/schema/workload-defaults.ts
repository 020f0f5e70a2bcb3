import type { JsonObject } from '#libs/kube-model'

import { asObject, ensureObject, isObject, objectsIn, setDefault } from './json-shape.ts'
import { defaultClaim } from './config-defaults.ts'
import { defaultPodSpec } from './pod-defaults.ts'

function defaultTemplate(spec: JsonObject): void {
  const podSpec = asObject(spec['template'])['spec']
  if (isObject(podSpec)) defaultPodSpec(podSpec)
}

function defaultRollingUpdate(strategy: JsonObject, fields: JsonObject): void {
  setDefault(strategy, 'type', 'RollingUpdate')
  if (strategy['type'] !== 'RollingUpdate') return
  const rolling = ensureObject(strategy, 'rollingUpdate')
  for (const [name, value] of Object.entries(fields)) setDefault(rolling, name, value)
}

function defaultDeployment(object: JsonObject): void {
  const spec = ensureObject(object, 'spec')
  defaultTemplate(spec)
  setDefault(spec, 'replicas', 1)
  defaultRollingUpdate(ensureObject(spec, 'strategy'), { maxUnavailable: '25%', maxSurge: '25%' })
  setDefault(spec, 'revisionHistoryLimit', 10)
  setDefault(spec, 'progressDeadlineSeconds', 600)
}

function defaultReplicaSet(object: JsonObject): void {
  const spec = ensureObject(object, 'spec')
  defaultTemplate(spec)
  setDefault(spec, 'replicas', 1)
}

function defaultReplicationController(object: JsonObject): void {
  defaultReplicaSet(object)
  const spec = ensureObject(object, 'spec')
  const labels = asObject(asObject(asObject(spec['template'])['metadata'])['labels'])
  if (Object.keys(labels).length > 0) setDefault(spec, 'selector', { ...labels })
}

function defaultStatefulSet(object: JsonObject): void {
  const spec = ensureObject(object, 'spec')
  defaultTemplate(spec)
  setDefault(spec, 'podManagementPolicy', 'OrderedReady')
  defaultRollingUpdate(ensureObject(spec, 'updateStrategy'), { partition: 0 })
  const retention = ensureObject(spec, 'persistentVolumeClaimRetentionPolicy')
  setDefault(retention, 'whenDeleted', 'Retain')
  setDefault(retention, 'whenScaled', 'Retain')
  setDefault(spec, 'replicas', 1)
  setDefault(spec, 'revisionHistoryLimit', 10)
  for (const claim of objectsIn(spec['volumeClaimTemplates'])) {
    setDefault(claim, 'kind', 'PersistentVolumeClaim')
    setDefault(claim, 'apiVersion', 'v1')
    defaultClaim(claim)
  }
}

function defaultDaemonSet(object: JsonObject): void {
  const spec = ensureObject(object, 'spec')
  defaultTemplate(spec)
  defaultRollingUpdate(ensureObject(spec, 'updateStrategy'), { maxUnavailable: 1, maxSurge: 0 })
  setDefault(spec, 'revisionHistoryLimit', 10)
}

function defaultJob(object: JsonObject): void {
  const spec = ensureObject(object, 'spec')
  defaultTemplate(spec)
  if (spec['completions'] === undefined && spec['parallelism'] === undefined) spec['completions'] = 1
  setDefault(spec, 'parallelism', 1)
  setDefault(spec, 'backoffLimit', 6)
  setDefault(spec, 'completionMode', 'NonIndexed')
  setDefault(spec, 'suspend', false)
  setDefault(spec, 'manualSelector', false)
  setDefault(spec, 'podReplacementPolicy', spec['podFailurePolicy'] === undefined ? 'TerminatingOrFailed' : 'Failed')
  const templateLabels = asObject(asObject(asObject(spec['template'])['metadata'])['labels'])
  if (Object.keys(templateLabels).length > 0)
    setDefault(ensureObject(object, 'metadata'), 'labels', { ...templateLabels })
}

function defaultCronJob(object: JsonObject): void {
  const spec = ensureObject(object, 'spec')
  defaultTemplate(asObject(asObject(spec['jobTemplate'])['spec']))
  setDefault(spec, 'concurrencyPolicy', 'Allow')
  setDefault(spec, 'suspend', false)
  setDefault(spec, 'successfulJobsHistoryLimit', 3)
  setDefault(spec, 'failedJobsHistoryLimit', 1)
}

/** Defaults of the kinds that run pods. */
export const WORKLOAD_DEFAULTS: Record<string, (object: JsonObject) => void> = {
  Deployment: defaultDeployment,
  ReplicaSet: defaultReplicaSet,
  ReplicationController: defaultReplicationController,
  StatefulSet: defaultStatefulSet,
  DaemonSet: defaultDaemonSet,
  Job: defaultJob,
  CronJob: defaultCronJob,
}
