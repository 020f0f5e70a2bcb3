import { jsonEqual } from '#libs/kernel'
import type { KubeObject, ObjectMeta } from '#libs/kube-model'

import type { FieldProblem } from '../api-error.ts'
import { labelValueProblems, qualifiedNameProblems } from '../selectors/label-syntax.ts'
import { forbidden, immutable, invalid, invalidAll, required, tooLong } from './field-problem.ts'

const MAX_ANNOTATION_BYTES = 256 * 1024
const STANDARD_FINALIZERS = new Set(['orphan', 'foregroundDeletion', 'kubernetes'])

/** What is wrong with the metadata of an object. */
export function validateMetadata(object: KubeObject, nameProblems: (name: string) => string[]): FieldProblem[] {
  const { metadata } = object
  const problems: FieldProblem[] = []
  const { name = '', generateName = '' } = metadata
  if (generateName !== '') {
    // Something always follows a generated name's dash.
    const tested = generateName.length > 1 ? generateName.replace(/-$/, 'a') : generateName
    problems.push(...invalidAll('metadata.generateName', generateName, nameProblems(tested)))
  }
  if (name === '') problems.push(required('metadata.name', 'name or generateName is required'))
  else problems.push(...invalidAll('metadata.name', name, nameProblems(name)))
  problems.push(...validateLabels(metadata.labels, 'metadata.labels'))
  problems.push(...validateAnnotations(metadata.annotations))
  problems.push(...validateOwners(metadata))
  for (const [index, finalizer] of (metadata.finalizers ?? []).entries()) {
    const field = `metadata.finalizers[${index}]`
    problems.push(...invalidAll(field, finalizer, qualifiedNameProblems(finalizer)))
    if (!finalizer.includes('/') && !STANDARD_FINALIZERS.has(finalizer)) {
      problems.push(invalid(field, finalizer, 'name is neither a standard finalizer name nor is it fully qualified'))
    }
  }
  return problems
}

/** What is wrong with labels at a path. */
export function validateLabels(labels: Record<string, string> | undefined, field: string): FieldProblem[] {
  return Object.entries(labels ?? {}).flatMap(([key, value]) => [
    ...invalidAll(field, key, qualifiedNameProblems(key)),
    ...invalidAll(field, value, labelValueProblems(value)),
  ])
}

function validateAnnotations(annotations: Record<string, string> | undefined): FieldProblem[] {
  const field = 'metadata.annotations'
  const problems: FieldProblem[] = []
  let bytes = 0
  for (const [key, value] of Object.entries(annotations ?? {})) {
    problems.push(...invalidAll(field, key, qualifiedNameProblems(key.toLowerCase())))
    bytes += Buffer.byteLength(key) + Buffer.byteLength(value)
  }
  if (bytes > MAX_ANNOTATION_BYTES) problems.push(tooLong(field, MAX_ANNOTATION_BYTES))
  return problems
}

function validateOwners(metadata: ObjectMeta): FieldProblem[] {
  const field = 'metadata.ownerReferences'
  const problems: FieldProblem[] = []
  const owners = metadata.ownerReferences ?? []
  let controller: string | undefined
  for (const owner of owners) {
    for (const name of ['apiVersion', 'kind', 'name', 'uid'] as const) {
      if (!owner[name]) problems.push(invalid(`${field}.${name}`, owner[name] ?? '', 'must not be empty'))
    }
    if (owner.controller !== true) continue
    const title = `${owner.kind}/${owner.name}`
    if (controller !== undefined) {
      const inOrder = owners.map(({ apiVersion, kind, name, uid, ...flags }) => ({
        apiVersion,
        kind,
        name,
        uid,
        ...flags,
      }))
      problems.push(
        invalid(
          field,
          inOrder,
          `Only one reference can have Controller set to true. Found "true" in references for ${controller} and ${title}`,
        ),
      )
    }
    controller = title
  }
  return problems
}

/** What is wrong with a change of metadata. */
export function validateMetadataUpdate(next: KubeObject, previous: KubeObject): FieldProblem[] {
  const problems: FieldProblem[] = []
  for (const name of ['uid', 'deletionTimestamp', 'deletionGracePeriodSeconds'] as const) {
    const value = next.metadata[name]
    if (!jsonEqual(value, previous.metadata[name])) problems.push(immutable(`metadata.${name}`, value ?? null))
  }
  if (previous.metadata.deletionTimestamp !== undefined) {
    const known = previous.metadata.finalizers ?? []
    const added = (next.metadata.finalizers ?? []).filter((finalizer) => !known.includes(finalizer))
    if (added.length > 0) {
      const list = added.map((finalizer) => JSON.stringify(finalizer)).join(', ')
      problems.push(
        forbidden(
          'metadata.finalizers',
          `no new finalizers can be added if the object is being deleted, found new finalizers []string{${list}}`,
        ),
      )
    }
  }
  return problems
}
