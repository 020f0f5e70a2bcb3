import { jsonEqual } from '#libs/kernel'
import type { JsonObject, KubeObject } from '#libs/kube-model'

import type { FieldProblem } from '../api-error.ts'
import { matchesLabelSelector } from '../selectors/label-selector.ts'
import type { Labels } from '../selectors/label-selector.ts'
import { asNumber, asObject, asString, at, ensureObject, isObject, objectsIn } from '../schema/json-shape.ts'
import { specOf } from './create-strategy.ts'
import { forbidden, immutable, invalid, notSupported, required } from './field-problem.ts'
import type { KindRules } from './strategy.ts'
import { validatePodSpec } from './validate-pod-spec.ts'

const ALWAYS = ['Always']

/** What is wrong with selector and template of a workload that keeps its pods running. */
function validateSelected(object: KubeObject, kind: string): FieldProblem[] {
  const spec = specOf(object)
  const { selector } = spec
  const problems: FieldProblem[] = []
  const template = asObject(spec['template'])
  if (!isObject(selector)) problems.push(required('spec.selector'))
  else if (Object.keys(selector).length === 0) {
    problems.push(invalid('spec.selector', selector, `empty selector is invalid for ${kind}`))
  } else {
    const labels = at(template, 'metadata', 'labels')
    if (!matchesLabelSelector(selector, labels as Labels)) {
      const detail = '`selector` does not match template `labels`'
      problems.push(invalid('spec.template.metadata.labels', labels ?? null, detail))
    }
  }
  const podSpec = asObject(template['spec'])
  problems.push(...validatePodSpec(podSpec, 'spec.template.spec'))
  const policy = asString(podSpec['restartPolicy'])
  if (policy === 'OnFailure' || policy === 'Never') {
    problems.push(notSupported('spec.template.spec.restartPolicy', policy, ALWAYS))
  }
  return problems
}

function validateReplicas(object: KubeObject): FieldProblem[] {
  const { replicas } = specOf(object)
  if (typeof replicas !== 'number' || replicas >= 0) return []
  return [invalid('spec.replicas', replicas, 'must be greater than or equal to 0')]
}

function selectorUnchanged(next: KubeObject, previous: KubeObject): FieldProblem[] {
  const { selector } = specOf(next)
  return jsonEqual(selector, specOf(previous)['selector']) ? [] : [immutable('spec.selector', selector ?? null)]
}

function validateStrategy(object: KubeObject): FieldProblem[] {
  const strategy = asObject(specOf(object)['strategy'])
  const type = asString(strategy['type'])
  if (type === 'Recreate' && strategy['rollingUpdate'] !== undefined) {
    return [forbidden('spec.strategy.rollingUpdate', "may not be specified when strategy `type` is 'Recreate'")]
  }
  const types = ['Recreate', 'RollingUpdate']
  return types.includes(type) ? [] : [notSupported('spec.strategy', strategy, types)]
}

export const DEPLOYMENT_RULES: KindRules = {
  hasGeneration: true,
  validate: (object) => [
    ...validateReplicas(object),
    ...validateSelected(object, 'deployment'),
    ...validateStrategy(object),
  ],
  validateUpdate: selectorUnchanged,
}

export const REPLICA_SET_RULES: KindRules = {
  hasGeneration: true,
  validate: (object) => [...validateReplicas(object), ...validateSelected(object, 'replicaset')],
  validateUpdate: selectorUnchanged,
}

const STATEFUL_CHANGEABLE = [
  'replicas',
  'ordinals',
  'template',
  'updateStrategy',
  'revisionHistoryLimit',
  'persistentVolumeClaimRetentionPolicy',
  'minReadySeconds',
]

/** Containers may mount the claims that the set makes as if they were volumes of the template. */
function withClaimVolumes(object: KubeObject): KubeObject {
  const spec = specOf(object)
  const template = asObject(spec['template'])
  const podSpec = asObject(template['spec'])
  const own = objectsIn(podSpec['volumes'])
  const names = new Set(own.map(({ name }) => asString(name)))
  const made = objectsIn(spec['volumeClaimTemplates']).flatMap((claim): JsonObject[] => {
    const name = asString(at(claim, 'metadata', 'name'))
    return name === '' || names.has(name) ? [] : [{ name, persistentVolumeClaim: { claimName: name } }]
  })
  if (made.length === 0) return object
  const completed = { ...podSpec, volumes: [...own, ...made] }
  return { ...object, spec: { ...spec, template: { ...template, spec: completed } } }
}

export const STATEFUL_SET_RULES: KindRules = {
  hasGeneration: true,
  validate: (object) => [...validateReplicas(object), ...validateSelected(withClaimVolumes(object), 'statefulset')],
  validateUpdate: (next, previous) => {
    const fixed = (object: KubeObject): JsonObject => {
      const spec = { ...specOf(object) }
      for (const name of STATEFUL_CHANGEABLE) delete spec[name]
      return spec
    }
    if (jsonEqual(fixed(next), fixed(previous))) return []
    return [
      forbidden(
        'spec',
        "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden",
      ),
    ]
  },
}

const TEMPLATE_GENERATION = 'deprecated.daemonset.template.generation'

function setTemplateGeneration(object: KubeObject, generation: number): void {
  object.metadata.annotations = { ...object.metadata.annotations, [TEMPLATE_GENERATION]: String(generation) }
}

export const DAEMON_SET_RULES: KindRules = {
  hasGeneration: true,
  prepareCreate: (object) => setTemplateGeneration(object, 1),
  prepareUpdate: (next, previous) => {
    const before = Number(previous.metadata.annotations?.[TEMPLATE_GENERATION] ?? 1)
    const isSame = jsonEqual(specOf(next)['template'], specOf(previous)['template'])
    setTemplateGeneration(next, isSame ? before : before + 1)
  },
  validate: (object) => validateSelected(object, 'daemonset'),
  validateUpdate: selectorUnchanged,
}

function validateJobSpec(spec: JsonObject, path: string): FieldProblem[] {
  const problems: FieldProblem[] = []
  for (const name of ['parallelism', 'completions', 'backoffLimit', 'ttlSecondsAfterFinished']) {
    const value = asNumber(spec[name])
    if (value < 0) problems.push(invalid(`${path}.${name}`, value, 'must be greater than or equal to 0'))
  }
  const podSpec = asObject(at(spec, 'template', 'spec'))
  problems.push(...validatePodSpec(podSpec, `${path}.template.spec`))
  if (podSpec['restartPolicy'] === 'Always') {
    problems.push(required(`${path}.template.spec.restartPolicy`, 'valid values: "OnFailure", "Never"'))
  }
  return problems
}

/** A Job's pods carry its uid, and its selector names that: Jobs never share pods. */
function selectOwnPods(job: KubeObject): void {
  const spec = ensureObject(job as JsonObject, 'spec')
  if (spec['manualSelector'] === true) return
  const { uid = '', name = '' } = job.metadata
  const metadata = ensureObject(ensureObject(spec, 'template'), 'metadata')
  const labels = ensureObject(metadata, 'labels')
  const own = {
    'batch.kubernetes.io/controller-uid': uid,
    'batch.kubernetes.io/job-name': name,
    'controller-uid': uid,
    'job-name': name,
  }
  for (const [key, value] of Object.entries(own)) labels[key] = value
  spec['selector'] = { matchLabels: { 'batch.kubernetes.io/controller-uid': uid } }
  if (job.metadata.labels === undefined) job.metadata.labels = { ...labels } as Record<string, string>
}

export const JOB_RULES: KindRules = {
  hasGeneration: true,
  prepareCreate: selectOwnPods,
  validate: (job) => validateJobSpec(specOf(job), 'spec'),
  validateUpdate: (next, previous) => {
    const spec = specOf(next)
    const before = specOf(previous)
    const mayChange = before['suspend'] === true
    return ['completions', 'selector', 'template', 'completionMode', 'podFailurePolicy', 'backoffLimitPerIndex']
      .filter((name) => !(mayChange && name === 'template') && !jsonEqual(spec[name], before[name]))
      .map((name) => immutable(`spec.${name}`, spec[name] ?? null))
  },
}

export const CRON_JOB_RULES: KindRules = {
  hasGeneration: true,
  validate: (object) => {
    const spec = specOf(object)
    const problems: FieldProblem[] = []
    const schedule = asString(spec['schedule'])
    const fields = schedule.trim().split(/\s+/)
    if (schedule === '') problems.push(required('spec.schedule'))
    else if (!schedule.startsWith('@') && fields.length !== 5) {
      const detail = `expected exactly 5 fields, found ${fields.length}: [${fields.join(' ')}]`
      problems.push(invalid('spec.schedule', schedule, detail))
    }
    const policies = ['Allow', 'Forbid', 'Replace']
    const policy = asString(spec['concurrencyPolicy'])
    if (!policies.includes(policy)) problems.push(notSupported('spec.concurrencyPolicy', policy, policies))
    return [...problems, ...validateJobSpec(asObject(at(spec, 'jobTemplate', 'spec')), 'spec.jobTemplate.spec')]
  },
}

export const CONTROLLER_REVISION_RULES: KindRules = {
  validateUpdate: (next, previous) =>
    jsonEqual(next['data'], previous['data']) ? [] : [immutable('data', next['data'] ?? null)],
}
