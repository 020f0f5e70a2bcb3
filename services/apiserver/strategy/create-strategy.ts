import { cloneJson, jsonEqual } from '#libs/kernel'
import type { JsonObject, KubeObject } from '#libs/kube-model'

import type { FieldProblem } from '../api-error.ts'
import { fillStructs } from '../schema/fill.ts'
import type { Gvk } from '../schema/schema.ts'
import { subdomainProblems } from './names.ts'
import type { KindRules, Strategy } from './strategy.ts'
import { validateMetadata, validateMetadataUpdate } from './validate-metadata.ts'

/** The common rules of all resources together with those of one kind. */
export function createStrategy(options: { gvk: Gvk; hasStatus: boolean; rules: KindRules }): Strategy {
  const { gvk, hasStatus, rules } = options
  const nameProblems = rules.nameProblems ?? subdomainProblems
  const locksLabels = rules.locksLabelsInStatus ?? gvk.group !== ''
  return {
    prepareCreate: (object, context) => {
      if (rules.hasGeneration === true) object.metadata.generation = 1
      if (hasStatus && rules.keepsStatusOnCreate !== true) delete object['status']
      rules.prepareCreate?.(object, context)
      fillStructs(gvk, object)
    },
    prepareUpdate: (next, previous, context) => {
      if (hasStatus) keepField(next, previous, 'status')
      rules.prepareUpdate?.(next, previous, context)
      fillStructs(gvk, next)
      if (rules.hasGeneration === true) countGeneration(next, previous)
    },
    prepareStatusUpdate: (next, previous) => {
      for (const name of new Set([...Object.keys(next), ...Object.keys(previous)])) {
        if (name !== 'metadata' && name !== 'status') keepField(next, previous, name)
      }
      if (locksLabels) {
        if (previous.metadata.labels === undefined) delete next.metadata.labels
        else next.metadata.labels = { ...previous.metadata.labels }
      }
      rules.prepareStatusUpdate?.(next, previous)
      fillStructs(gvk, next)
    },
    validate: (object, previous) => validate({ object, previous, nameProblems, rules }),
  }
}

function validate(input: {
  object: KubeObject
  previous: KubeObject | undefined
  nameProblems: (name: string) => string[]
  rules: KindRules
}): FieldProblem[] {
  const { object, previous, rules } = input
  const metadata =
    previous !== undefined && sameMetadata(object, previous) ? [] : validateMetadata(object, input.nameProblems)
  if (previous === undefined) {
    return [...metadata, ...(rules.validateCreate?.(object) ?? []), ...(rules.validate?.(object) ?? [])]
  }
  const change = [...metadata, ...metadata, ...validateMetadataUpdate(object, previous)]
  const own = sameContent(object, previous)
    ? []
    : [...(rules.validate?.(object) ?? []), ...(rules.validateUpdate?.(object, previous) ?? [])]
  const status = jsonEqual(object['status'], previous['status']) ? [] : (rules.validateStatus?.(object) ?? [])
  // Upstream checks metadata for all kinds and again for the kind, twice over, and lists all findings.
  return [...change, ...change, ...own, ...status]
}

function keepField(next: KubeObject, previous: KubeObject, name: string): void {
  if (previous[name] === undefined) delete next[name]
  else next[name] = cloneJson(previous[name])
}

function sameMetadata(a: KubeObject, b: KubeObject): boolean {
  const checked = ['labels', 'annotations', 'finalizers', 'ownerReferences'] as const
  return checked.every((name) => jsonEqual(a.metadata[name], b.metadata[name]))
}

const IDENTITY = new Set(['apiVersion', 'kind', 'metadata', 'status'])

/** Whether everything but metadata and status is the same. */
export function sameContent(a: KubeObject, b: KubeObject): boolean {
  const names = new Set([...Object.keys(a), ...Object.keys(b)])
  for (const name of names) if (!IDENTITY.has(name) && !jsonEqual(a[name], b[name])) return false
  return true
}

function countGeneration(next: KubeObject, previous: KubeObject): void {
  const before = previous.metadata.generation ?? 1
  next.metadata.generation = sameContent(next, previous) ? before : before + 1
}

/** The spec of an object; empty when it has none. Not connected to the object then. */
export function specOf(object: KubeObject): JsonObject {
  return (object['spec'] ?? {}) as JsonObject
}
