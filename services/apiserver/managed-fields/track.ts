import type { JsonObject, KubeObject } from '#libs/kube-model'

import { isObject } from '../schema/json-shape.ts'
import { fillStructs } from '../schema/fill.ts'
import { typeOf } from '../schema/schema.ts'
import type { Gvk } from '../schema/schema.ts'
import { compareObjects } from './compare.ts'
import type { Comparison } from './compare.ts'
import { isEmptySet, subtractFields, unionFields } from './field-set.ts'

/** Who writes, and through what. */
export type Writer = {
  manager: string
  operation: 'Update'
  subresource?: string
  /** RFC 3339 in whole seconds. */
  time: string
  apiVersion: string
  /** The custom kind of the object; absent for built-in ones. */
  custom?: Gvk['custom']
}

/**
 * Sets `metadata.managedFields` of `next`: the writer owns what it set or changed, and nobody owns what changed under
 * them or is gone. A client that sends a list with one empty entry ends the tracking of the object.
 */
export function trackManagedFields(next: KubeObject, previous: KubeObject | undefined, writer: Writer): void {
  const sent = next.metadata.managedFields
  delete next.metadata.managedFields
  const isReset = sent !== undefined && (sent.length === 0 || (sent.length === 1 && isBlank(sent[0])))
  if (previous !== undefined && isReset) return
  const known = previous?.metadata.managedFields ?? []
  if (previous !== undefined && known.length === 0) return
  const { custom } = writer
  const gvk: Gvk = custom === undefined ? gvkOf(next) : { ...gvkOf(next), custom }
  const type = typeOf(gvk)
  const base = (previous as JsonObject | undefined) ?? blankObject(gvk)
  const comparison = compareObjects(base, next as JsonObject, type)
  // What a client says about the status here is not stored.
  if (type !== undefined && type.hasPlainStatus !== true && writer.subresource === undefined)
    comparison.changed.children.delete('f:status')
  const entries = applyComparison(known, comparison, writer)
  if (entries.length > 0) next.metadata.managedFields = entries
}

const isBlank = (entry: JsonObject | undefined): boolean => entry !== undefined && Object.keys(entry).length === 0

const blanks = new Map<string, JsonObject>()

/** An object of which nobody has set anything yet: the structures that all objects of the kind have. Shared. */
function blankObject(gvk: Gvk): JsonObject {
  const key = `${gvk.group}/${gvk.version}/${gvk.kind}`
  const known = blanks.get(key)
  if (known !== undefined) return known
  const blank: JsonObject = {}
  blanks.set(key, blank)
  fillStructs(gvk, blank)
  nullContainers(blank)
  return blank
}

/** The list of containers is there from the start: in a new object nobody owns it as a whole. */
function nullContainers(value: JsonObject): void {
  for (const [name, child] of Object.entries(value)) {
    if (!isObject(child)) continue
    if (name === 'spec' && child['containers'] === undefined) child['containers'] = null
    nullContainers(child)
  }
}

/** Group, version and kind that an object says it is of. */
function gvkOf(object: KubeObject): Gvk {
  const [group, version] = splitApiVersion(object.apiVersion ?? '')
  return { group, version, kind: object.kind ?? '' }
}

function splitApiVersion(apiVersion: string): [group: string, version: string] {
  const slash = apiVersion.indexOf('/')
  return slash === -1 ? ['', apiVersion] : [apiVersion.slice(0, slash), apiVersion.slice(slash + 1)]
}

function applyComparison(known: readonly JsonObject[], comparison: Comparison, writer: Writer): JsonObject[] {
  const { changed, removed } = comparison
  if (isEmptySet(changed) && isEmptySet(removed)) return [...known]
  const entries: JsonObject[] = []
  let own: JsonObject | undefined
  for (const entry of known) {
    const fields = isObject(entry['fieldsV1']) ? entry['fieldsV1'] : {}
    const isOwn = isEntryOf(entry, writer)
    const kept = subtractFields(fields, removed, { deep: true })
    const rest = isOwn || kept === undefined ? kept : subtractFields(kept, changed)
    if (isOwn) own = rest ?? {}
    else if (rest !== undefined) entries.push(sameFields(rest, fields) ? entry : { ...entry, fieldsV1: rest })
  }
  // An empty object would read as the set that holds the object itself.
  const start = own !== undefined && Object.keys(own).length > 0 ? own : undefined
  const fields = unionFields(start, changed)
  if (fields !== undefined && Object.keys(fields).length > 0) entries.push(entryFor(writer, fields))
  return sortEntries(entries)
}

function sameFields(a: JsonObject, b: JsonObject): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}

function isEntryOf(entry: JsonObject, writer: Writer): boolean {
  return (
    entry['manager'] === writer.manager &&
    entry['operation'] === writer.operation &&
    entry['apiVersion'] === writer.apiVersion &&
    (entry['subresource'] ?? '') === (writer.subresource ?? '')
  )
}

function entryFor(writer: Writer, fields: JsonObject): JsonObject {
  return {
    manager: writer.manager,
    operation: writer.operation,
    apiVersion: writer.apiVersion,
    time: writer.time,
    fieldsType: 'FieldsV1',
    fieldsV1: fields,
    ...(writer.subresource === undefined ? {} : { subresource: writer.subresource }),
  }
}

/** Apply before Update, then by time and manager. */
export function sortEntries(entries: JsonObject[]): JsonObject[] {
  const rank = (entry: JsonObject): string =>
    [entry['operation'], entry['time'], entry['manager'], entry['subresource']]
      .map((part) => (typeof part === 'string' ? part : ''))
      .join(' ')
  return entries.sort((a, b) => (rank(a) < rank(b) ? -1 : 1))
}
