import { cloneJson, jsonEqual } from '#libs/kernel'
import type { Json, JsonObject, KubeObject } from '#libs/kube-model'

import type { FieldProblem } from '../api-error.ts'
import { asObject, asString, objectsIn } from '../schema/json-shape.ts'
import { specOf } from './create-strategy.ts'
import { forbidden, invalid, required } from './field-problem.ts'

const CHANGEABLE =
  'pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)'

/** What is wrong with a change of a pod's spec. */
export function validatePodUpdate(next: KubeObject, previous: KubeObject): FieldProblem[] {
  const spec = specOf(next)
  const before = specOf(previous)
  const problems = validateGateRemoval(spec, before)
  for (const list of ['containers', 'initContainers']) {
    if (objectsIn(spec[list]).length !== objectsIn(before[list]).length) {
      return [...problems, forbidden(`spec.${list}`, 'pod updates may not add or remove containers')]
    }
  }
  for (const list of ['containers', 'initContainers']) {
    for (const [index, container] of objectsIn(spec[list]).entries()) {
      if (asString(container['image']) === '') problems.push(required(`spec.${list}[${index}].image`))
    }
  }
  problems.push(...validateDeadline(spec, before), ...validateAddedTolerations(spec, before))
  if (problems.length > 0) return problems
  return jsonEqual(withChangeable(spec, before), before) ? [] : [forbidden('spec', CHANGEABLE)]
}

function validateGateRemoval(spec: JsonObject, before: JsonObject): FieldProblem[] {
  const known = objectsIn(before['schedulingGates']).map((gate) => asString(gate['name']))
  return objectsIn(spec['schedulingGates']).flatMap((gate, index) => {
    const name = asString(gate['name'])
    if (known.includes(name)) return []
    const detail = `only deletion is allowed, but found new scheduling gate '${name}'`
    return [forbidden(`spec.schedulingGates[${index}].name`, detail)]
  })
}

function validateDeadline(spec: JsonObject, before: JsonObject): FieldProblem[] {
  const field = 'spec.activeDeadlineSeconds'
  const value = spec['activeDeadlineSeconds']
  const old = before['activeDeadlineSeconds']
  if (typeof old !== 'number') return []
  if (typeof value !== 'number') {
    return [invalid(field, null, 'must not update from a positive integer to nil value')]
  }
  return value > old ? [invalid(field, value, 'must be less than or equal to previous value')] : []
}

const withoutSeconds = ({ tolerationSeconds: _, ...toleration }: JsonObject): JsonObject => toleration

function validateAddedTolerations(spec: JsonObject, before: JsonObject): FieldProblem[] {
  const present = objectsIn(spec['tolerations']).map(withoutSeconds)
  const isKept = objectsIn(before['tolerations'])
    .map(withoutSeconds)
    .every((toleration) => present.some((candidate) => jsonEqual(candidate, toleration)))
  if (isKept) return []
  return [forbidden('spec.tolerations', 'existing toleration can not be modified except its tolerationSeconds')]
}

/** The new spec with the old values of everything that may change: equal to the old spec when the change is sound. */
function withChangeable(spec: JsonObject, before: JsonObject): JsonObject {
  const munged = cloneJson(spec)
  for (const list of ['containers', 'initContainers']) {
    const old = objectsIn(before[list])
    for (const [index, container] of objectsIn(munged[list]).entries()) {
      restore(container, old[index] ?? {}, 'image')
    }
  }
  const changeable = ['activeDeadlineSeconds', 'tolerations', 'schedulingGates']
  const isGraceFixed = before['terminationGracePeriodSeconds'] !== munged['terminationGracePeriodSeconds']
  if (isGraceFixed && Number(before['terminationGracePeriodSeconds']) < 0) {
    if (munged['terminationGracePeriodSeconds'] === 1) changeable.push('terminationGracePeriodSeconds')
  }
  if (objectsIn(before['schedulingGates']).length > 0) {
    if (containsAll(asObject(munged['nodeSelector']), asObject(before['nodeSelector']))) changeable.push('nodeSelector')
    if (before['affinity'] === undefined) changeable.push('affinity')
  }
  for (const name of changeable) restore(munged, before, name)
  return munged
}

function containsAll(object: JsonObject, part: JsonObject): boolean {
  return Object.entries(part).every(([key, value]) => object[key] === value)
}

function restore(target: JsonObject, source: JsonObject, name: string): void {
  const value: Json | undefined = source[name]
  if (value === undefined) delete target[name]
  else target[name] = value
}
