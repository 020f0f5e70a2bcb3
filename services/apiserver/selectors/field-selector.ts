import type { KubeObject } from '#libs/kube-model'

import { ApiError } from '../api-error.ts'
import { at } from '../schema/json-shape.ts'

export type ObjectPredicate = (object: KubeObject) => boolean

type FieldReader = (object: KubeObject) => string

const text = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : ''

const path =
  (...names: string[]): FieldReader =>
  (object) =>
    text(at(object, ...names))

const flag =
  (...names: string[]): FieldReader =>
  (object) =>
    String(at(object, ...names) === true)

const count =
  (...names: string[]): FieldReader =>
  (object) =>
    text(at(object, ...names) ?? 0)

const eventFields = (subject: string, reporter: string, source: string): Record<string, FieldReader> => ({
  ...Object.fromEntries(
    ['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath'].map((name) => [
      `${subject}.${name}`,
      path(subject, name),
    ]),
  ),
  reason: path('reason'),
  type: path('type'),
  [reporter]: path(reporter),
  ...(source === ''
    ? {}
    : { source: (object: KubeObject) => path(source, 'component')(object) || path(reporter)(object) }),
})

const POD_FIELDS: Record<string, FieldReader> = {
  'spec.nodeName': path('spec', 'nodeName'),
  'spec.restartPolicy': path('spec', 'restartPolicy'),
  'spec.schedulerName': path('spec', 'schedulerName'),
  'spec.serviceAccountName': path('spec', 'serviceAccountName'),
  'spec.hostNetwork': flag('spec', 'hostNetwork'),
  'status.phase': path('status', 'phase'),
  'status.podIP': path('status', 'podIP'),
  'status.podIPs': path('status', 'podIP'),
  'status.nominatedNodeName': path('status', 'nominatedNodeName'),
}

/** Fields that can be selected by, besides `metadata.name` and `metadata.namespace`. */
const FIELDS: Record<string, Record<string, FieldReader>> = {
  pods: POD_FIELDS,
  events: eventFields('involvedObject', 'reportingComponent', 'source'),
  'events.events.k8s.io': eventFields('regarding', 'reportingController', ''),
  secrets: { type: path('type') },
  services: { 'spec.clusterIP': path('spec', 'clusterIP'), 'spec.type': path('spec', 'type') },
  nodes: { 'spec.unschedulable': flag('spec', 'unschedulable') },
  namespaces: { 'status.phase': path('status', 'phase') },
  replicationcontrollers: { 'status.replicas': count('status', 'replicas') },
  'jobs.batch': { 'status.successful': count('status', 'succeeded') },
  'certificatesigningrequests.certificates.k8s.io': { 'spec.signerName': path('spec', 'signerName') },
}

const META_FIELDS: Record<string, FieldReader> = {
  'metadata.name': path('metadata', 'name'),
  'metadata.namespace': path('metadata', 'namespace'),
}

/**
 * Parses a field selector of a request, such as `spec.nodeName=n,status.phase!=Failed`; empty text selects everything.
 * Throws 400 for fields that the resource does not offer.
 * @param customFields paths that a custom kind offers
 */
export function parseFieldSelector(
  selector: string,
  resourceToken: string,
  customFields?: readonly string[],
): ObjectPredicate {
  const fields = customFields === undefined ? FIELDS[resourceToken] : customReaders(customFields)
  const terms = splitTerms(selector).map((term) => parseTerm(term, selector, fields))
  if (terms.length === 0) return () => true
  return (object) => terms.every((matches) => matches(object))
}

const customReaders = (fields: readonly string[]): Record<string, FieldReader> =>
  Object.fromEntries(fields.map((field) => [field, path(...field.split('.'))]))

function parseTerm(term: string, selector: string, fields: Record<string, FieldReader> | undefined): ObjectPredicate {
  const match = /^((?:[^=!\\]|\\.)*?)(!=|==|=)(.*)$/s.exec(term)
  if (match === null) throw ApiError.badRequest(`invalid selector: '${selector}'; can't understand '${term}'`)
  const [, label = '', operator, escaped = ''] = match
  const read = readerOf(label, fields)
  const value = escaped.replaceAll(/\\([\\,=])/g, '$1')
  return operator === '!=' ? (object) => read(object) !== value : (object) => read(object) === value
}

function readerOf(label: string, own: Record<string, FieldReader> | undefined): FieldReader {
  const reader = META_FIELDS[label] ?? own?.[label]
  if (reader !== undefined) return reader
  throw ApiError.badRequest(
    own === undefined
      ? `${JSON.stringify(label)} is not a known field selector: only "metadata.name", "metadata.namespace"`
      : `field label not supported: ${label}`,
  )
}

/** Splits at commas that are not escaped; empty terms count for nothing. */
function splitTerms(selector: string): string[] {
  const terms: string[] = []
  let current = ''
  for (let index = 0; index < selector.length; index += 1) {
    const char = selector[index] ?? ''
    if (char === '\\') {
      current += char + (selector[index + 1] ?? '')
      index += 1
    } else if (char === ',') {
      terms.push(current)
      current = ''
    } else current += char
  }
  terms.push(current)
  return terms.filter((term) => term !== '')
}

/** The value that a selector of the form `field=value` demands of a field, when it demands exactly one. */
export function requiredFieldValue(selector: string, label: string): string | undefined {
  for (const term of splitTerms(selector)) {
    const match = /^([^=!]+)==?(.*)$/s.exec(term)
    if (match?.[1] === label) return match[2]
  }
  return undefined
}
