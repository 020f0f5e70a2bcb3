import { sha256Hex } from '#libs/kernel'
import { type JsonObject, type KubeObject, apiVersionOf } from '#libs/kube-model'
import { asName, asObject, objectsIn, presentFields, textOf } from '../../json.ts'
import type { ReportInput, ReportSubject } from '../../kind.ts'
import { tenantText } from '../../tenant-text.ts'

/** As the API has it: longer messages are refused. */
const MESSAGE_LIMIT = 1024
const NAME_LIMIT = 200
/** Where Events about objects without namespace are. */
const EVENTS_OF_NONE = 'default'
/** What is about the copies' own owners, which are the operator's. */
const NOT_TOLD: ReadonlySet<string> = new Set(['OwnerRefInvalidNamespace'])

/** The host object that an Event is about. */
export function subjectOf(event: KubeObject): ReportSubject | undefined {
  const { kind, namespace, name, uid, apiVersion } = asObject(event.involvedObject) ?? {}
  // What we tell tenants ourselves is on their own side; whoever sends it back must not make it echo.
  if (asObject(event.source)?.component === 'causeway' || event.reportingComponent === 'causeway') return undefined
  const named = asName(name)
  const what = asName(kind)
  if (named === undefined || what === undefined || NOT_TOLD.has(textOf(event.reason))) return undefined
  const known = asName(uid)
  const version = textOf(apiVersion)
  return {
    kind: what,
    ...(version === '' ? {} : { group: version.includes('/') ? (version.split('/')[0] ?? '') : '' }),
    namespace: textOf(namespace),
    name: named,
    ...(known === undefined ? {} : { uid: known }),
  }
}

/**
 * The Event as the tenant reads it: about its own object, in its own names. Of one name and uid for as long as the
 * host's has one, so that a repeat raises the count. What is about a container that the host has added is not told.
 */
export function eventForTenant(input: ReportInput): KubeObject | undefined {
  const { report, original, copy, resource } = input
  const { name: originalName = '', namespace: own } = original.metadata
  const namespace = own ?? EVENTS_OF_NONE
  const about = asObject(report.involvedObject) ?? {}
  if (isOfAddedContainer(textOf(about.fieldPath), original)) return undefined
  const series = asObject(report.series)
  const name = nameFor(report, copy.metadata.name ?? '', originalName)
  const node = asName(asObject(copy.spec)?.nodeName)
  return {
    ...presentFields({
      action: report.action,
      reportingComponent: componentOf(report.reportingComponent),
      // Which of the host's machines says so is known to the tenant as far as its pod runs there.
      reportingInstance: report.reportingInstance === node ? report.reportingInstance : undefined,
      source: sourceFor(report, node),
    }),
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name, namespace },
    involvedObject:
      presentFields({
        apiVersion: original.apiVersion ?? apiVersionOf(resource),
        kind: resource.kind,
        namespace: own,
        name: originalName,
        uid: original.metadata.uid,
        resourceVersion: original.metadata.resourceVersion,
        fieldPath: asName(about.fieldPath),
      }) ?? {},
    type: asName(report.type) ?? 'Normal',
    reason: textOf(report.reason),
    message: messageFor(input, node).slice(0, MESSAGE_LIMIT),
    firstTimestamp: seconds(report.firstTimestamp) ?? seconds(report.eventTime) ?? null,
    lastTimestamp:
      seconds(report.lastTimestamp) ??
      seconds(series?.lastObservedTime) ??
      seconds(report.eventTime) ??
      seconds(report.firstTimestamp) ??
      null,
    count: count(report.count) ?? count(series?.count) ?? 1,
  }
}

function messageFor(input: ReportInput, node: string | undefined): string {
  const { report, isHidden } = input
  // The scheduler names the node before the copy does.
  const hides = (word: string): boolean => report.reason !== 'Scheduled' && word !== node && isHidden?.(word) === true
  return tenantText(textOf(report.message), { ...input, isHidden: hides })
}

function isOfAddedContainer(fieldPath: string, { spec }: KubeObject): boolean {
  const [, list, name] = /^spec\.(containers|initContainers|ephemeralContainers)\{(.+)\}$/.exec(fieldPath) ?? []
  return list !== undefined && !objectsIn(asObject(spec)?.[list]).some((container) => container.name === name)
}

function nameFor(report: KubeObject, copyName: string, originalName: string): string {
  const name = report.metadata.name ?? ''
  const isUsual = copyName !== '' && name.startsWith(`${copyName}.`)
  const suffix = isUsual ? name.slice(copyName.length + 1) : sha256Hex(name).slice(0, 16)
  const stem = originalName.slice(0, NAME_LIMIT).replace(/[-.]+$/, '')
  return `${stem}.${suffix}`
}

function sourceFor(report: KubeObject, node: string | undefined): JsonObject | undefined {
  const { component, host } = asObject(report.source) ?? {}
  const named = componentOf(component) ?? componentOf(report.reportingComponent)
  return presentFields({ component: named, host: host !== undefined && host === node ? host : undefined })
}

/** Drivers add the names of their pods: `csi.example.com_provisioner-0_<uid>`. */
function componentOf(component: unknown): string | undefined {
  return asName(component)?.replace(/_.+_.*$/, '')
}

/** Times of the older form of Events have no fractions. */
function seconds(time: unknown): string | undefined {
  return asName(time)?.replace(/\.\d+Z$/, 'Z')
}

function count(value: unknown): number | undefined {
  return typeof value === 'number' && value > 0 ? value : undefined
}
