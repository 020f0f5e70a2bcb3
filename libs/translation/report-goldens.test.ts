import { describe, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { type JsonObject, type KubeObject } from '#libs/kube-model'
import { parseTenantConfig } from '#libs/sync-config'
import { hostMetadata, refOf } from './metadata.ts'
import { hostNamespaceFor } from './names.ts'
import { KINDS, kindFor, referencesOf } from './registry.ts'
import { eventForTenant } from './reports/events/translate.ts'
import { events } from './reports/events/events.ts'
import { applyPatch } from './testing/apply-patch.ts'
import { type GoldenCase, type GoldenContext, goldenCases, readGolden } from './testing/golden-cases.ts'
import { TENANT, deepFreeze } from './testing/index.ts'

/*
 * A case is a folder, with what the host's own controllers say about copies of one kind:
 *   original.yaml     the tenant's object
 *   copy-patch.yaml   optional: what the host filled in on the copy, as a merge patch
 *   context.yaml      { resource, hidden: [nodes that the tenant does not see] } besides what the cases of kinds have
 *   reports.yaml      the host's Events; what is about each of them alike is filled in
 *   expected.yaml     what the tenant is told, `null` for nothing
 * `npm run golden:update` rewrites expected.yaml.
 */
type ReportContext = GoldenContext & { resource: string; hidden?: string[] }
type Given = KubeObject & { fieldPath?: string }

const cases = goldenCases('reports/events')
const OF_THE_HOST = /causeway\.dev|-x-|tenant-team-|host-uid|worker-2|acme|control-plane-1|istio|control-plane"/

describe('what the host says of copies, as the golden files have it', () => {
  test.each(cases)('$name', async (given) => {
    const told = tellAll(given)
    expect(tellAll(given)).toEqual(told)
    expect(JSON.stringify(told)).not.toMatch(OF_THE_HOST)
    const path = `${given.folder}/expected.yaml`
    await expect(stringify(told, { lineWidth: 120, sortMapEntries: true })).toMatchFileSnapshot(path)
  })
})

test.each(Object.keys(KINDS))('of %s nothing of the host is told, whatever the message says', (resource) => {
  const info = kindFor(resource)?.resource
  if (info === undefined) throw new Error('no kind')
  const namespace = info.namespaced ? { namespace: 'default' } : {}
  const original: KubeObject = { kind: info.kind, metadata: { name: 'thing', ...namespace, uid: 'tenant-uid' } }
  const metadata = hostMetadata(refOf(original, resource), original, { tenant: TENANT })
  const copy: KubeObject = { kind: info.kind, metadata: { ...metadata, uid: 'host-uid' } }
  const message =
    `tenant-team-a/${metadata.name ?? ''} (host-uid), "tenant-team-b"/"other-x-default-x-team-b", causeway-c-x-team-b on ` +
    `worker-2: ${JSON.stringify(metadata.labels)} {tenant: acme} 0a1b2c3d-1111-2222-3333-444455556666`
  const told = eventForTenant(
    deepFreeze({
      report: { kind: 'Event', metadata: { name: `${metadata.name ?? ''}.1` }, message },
      tenant: TENANT,
      original,
      copy,
      resource: info,
      references: [],
      isHidden: (word: string) => word === 'worker-2',
    }),
  )
  expect(told?.message).toContain('thing')
  expect(JSON.stringify(told)).not.toMatch(OF_THE_HOST)
  expect(JSON.stringify(told)).not.toContain('0a1b2c3d')
})

function tellAll({ folder, context }: GoldenCase): (KubeObject | null)[] {
  const { resource, hidden = [], config } = context as ReportContext
  const kind = kindFor(resource)
  const original = deepFreeze(readGolden<KubeObject>(folder, 'original.yaml'))
  const reports = readGolden<Given[]>(folder, 'reports.yaml') ?? []
  if (original === undefined || kind === undefined) throw new Error(`${folder} has no original of a kind`)
  const tenant = deepFreeze({ ...TENANT, ...context.tenant, config: configOf(config) })
  const metadata = hostMetadata(refOf(original, resource), original, { tenant })
  const made = { ...original, metadata: { ...metadata, uid: 'host-uid' } }
  const patch = readGolden<JsonObject>(folder, 'copy-patch.yaml') ?? {}
  const copy = deepFreeze(applyPatch(made as JsonObject, patch, false) as KubeObject)
  const references = referencesOf(resource, { virtual: original, host: copy }, tenant)
  return reports.map((given, at) => {
    const report = deepFreeze(eventOf(given, at, { copy, tenant }))
    if (events.subjectOf(report) === undefined) return null
    return (
      eventForTenant({
        report,
        tenant,
        original,
        copy,
        resource: kind.resource,
        references,
        isHidden: (word) => hidden.includes(word),
      }) ?? null
    )
  })
}

/** The host's Event with what all Events about the copy have in common. */
function eventOf(
  { fieldPath, ...given }: Given,
  at: number,
  about: { copy: KubeObject; tenant: typeof TENANT },
): KubeObject {
  const { name = '', namespace } = about.copy.metadata
  const { apiVersion, kind } = about.copy
  return {
    apiVersion: 'v1',
    kind: 'Event',
    involvedObject: {
      apiVersion,
      kind,
      namespace,
      name,
      uid: 'host-uid',
      ...(fieldPath === undefined ? {} : { fieldPath }),
    },
    firstTimestamp: '2026-01-01T00:00:00Z',
    lastTimestamp: '2026-01-01T00:00:00Z',
    count: 1,
    ...given,
    metadata: { name: `${name}.${String(at)}`, namespace: namespace ?? hostNamespaceFor('default', about.tenant) },
  }
}

function configOf(config: JsonObject | undefined): (typeof TENANT)['config'] {
  const parsed = parseTenantConfig(config)
  if (parsed.config === undefined) throw new Error(JSON.stringify(parsed.problems))
  return parsed.config
}
