import type { JsonObject } from '#libs/kube-model'

import type { FieldProblem } from '../api-error.ts'
import { asObject, asString, objectsIn } from '../schema/json-shape.ts'
import { duplicate, forbidden, invalid, invalidAll, notSupported, required } from './field-problem.ts'
import { dnsLabelProblems, subdomainProblems } from './names.ts'
import { validateContainer } from './validate-container.ts'
import { validateLabels } from './validate-metadata.ts'
import { validateVolumes } from './validate-volumes.ts'

const RESTART_POLICIES = ['Always', 'OnFailure', 'Never']
const DNS_POLICIES = ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None']
const TOLERATION_EFFECTS = ['NoSchedule', 'PreferNoSchedule', 'NoExecute']

/** What is wrong with the spec of a pod or of a template; `path` is that of the spec. */
export function validatePodSpec(spec: JsonObject, path: string): FieldProblem[] {
  const volumes = new Set<string>()
  const problems = validateVolumes(spec, path, volumes)
  const names = new Set<string>()
  const containers = objectsIn(spec['containers'])
  if (containers.length === 0) problems.push(required(`${path}.containers`))
  for (const [index, container] of containers.entries()) {
    problems.push(...validateContainer(container, `${path}.containers[${index}]`, { volumes, names }))
  }
  for (const list of ['initContainers', 'ephemeralContainers']) {
    for (const [index, container] of objectsIn(spec[list]).entries()) {
      problems.push(...validateContainer(container, `${path}.${list}[${index}]`, { volumes, names }))
    }
  }
  problems.push(...validateChoice(spec, `${path}.restartPolicy`, RESTART_POLICIES))
  problems.push(...validateChoice(spec, `${path}.dnsPolicy`, DNS_POLICIES))
  problems.push(...validateLabels(asObject(spec['nodeSelector']) as Record<string, string>, `${path}.nodeSelector`))
  if (spec['hostNetwork'] === true) problems.push(...validateHostPorts(containers, path))
  for (const name of ['serviceAccountName', 'nodeName', 'priorityClassName']) {
    const value = asString(spec[name])
    if (value !== '') problems.push(...invalidAll(`${path}.${name}`, value, subdomainProblems(value)))
  }
  for (const name of ['hostname', 'subdomain']) {
    const value = asString(spec[name])
    if (value !== '') problems.push(...invalidAll(`${path}.${name}`, value, dnsLabelProblems(value)))
  }
  const deadline = spec['activeDeadlineSeconds']
  if (typeof deadline === 'number' && (deadline < 1 || deadline > 2_147_483_647)) {
    problems.push(invalid(`${path}.activeDeadlineSeconds`, deadline, 'must be between 1 and 2147483647, inclusive'))
  }
  problems.push(...validateTolerations(spec, path), ...validateGates(spec, path))
  return problems
}

function validateChoice(spec: JsonObject, field: string, choices: readonly string[]): FieldProblem[] {
  const value = asString(spec[field.slice(field.lastIndexOf('.') + 1)])
  if (value === '') return [required(field)]
  return choices.includes(value) ? [] : [notSupported(field, value, choices)]
}

function validateHostPorts(containers: readonly JsonObject[], path: string): FieldProblem[] {
  const problems: FieldProblem[] = []
  for (const [index, container] of containers.entries()) {
    for (const [place, port] of objectsIn(container['ports']).entries()) {
      if (port['hostPort'] !== port['containerPort']) {
        problems.push(
          invalid(
            `${path}.containers[${index}].ports[${place}].containerPort`,
            port['containerPort'],
            'must match `hostPort` when `hostNetwork` is true',
          ),
        )
      }
    }
  }
  return problems
}

function validateTolerations(spec: JsonObject, path: string): FieldProblem[] {
  const problems: FieldProblem[] = []
  for (const [index, toleration] of objectsIn(spec['tolerations']).entries()) {
    const field = `${path}.tolerations[${index}]`
    const operator = asString(toleration['operator'])
    const effect = asString(toleration['effect'])
    if (asString(toleration['key']) === '' && operator !== 'Exists') {
      problems.push(
        invalid(
          `${field}.operator`,
          operator,
          'operator must be Exists when `key` is empty, which means "match all values and all keys"',
        ),
      )
    }
    if (toleration['tolerationSeconds'] !== undefined && effect !== 'NoExecute') {
      problems.push(invalid(`${field}.effect`, effect, "effect must be 'NoExecute' when `tolerationSeconds` is set"))
    }
    if (operator === 'Exists' && asString(toleration['value']) !== '') {
      problems.push(
        invalid(`${field}.operator`, toleration['value'], "value must be empty when `operator` is 'Exists'"),
      )
    }
    if (effect !== '' && !TOLERATION_EFFECTS.includes(effect)) {
      problems.push(notSupported(`${field}.effect`, effect, TOLERATION_EFFECTS))
    }
  }
  return problems
}

function validateGates(spec: JsonObject, path: string): FieldProblem[] {
  const problems: FieldProblem[] = []
  const gates = objectsIn(spec['schedulingGates']).map((gate) => asString(gate['name']))
  if (gates.length > 0 && asString(spec['nodeName']) !== '') {
    problems.push(forbidden(`${path}.nodeName`, 'cannot be set until all schedulingGates have been cleared'))
  }
  for (const [index, name] of gates.entries()) {
    if (gates.indexOf(name) !== index) problems.push(duplicate(`${path}.schedulingGates[${index}].name`, name))
  }
  return problems
}
