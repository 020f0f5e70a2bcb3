import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { stringify } from 'yaml'
import type { JsonObject, KubeObject, ObjectRef } from '#libs/kube-model'
import { parseTenantConfig } from '#libs/sync-config'
import type { Decision } from './decision.ts'
import { MIRRORS, decideFor, isTwoSided, mirrorFor } from './registry.ts'
import { LABELS, OWN_PREFIX } from './stamps.ts'
import { type GoldenCase, type GoldenContext, goldenCases, readGolden } from './testing/golden-cases.ts'
import { hostility, madeHostile } from './testing/hostile.ts'
import { TENANT, deepFreeze, memoryRelated } from './testing/index.ts'
import type { View } from './view.ts'

/*
 * A case is a folder:
 *   original.yaml   the host's object; without it, `key` of the context says which copy is decided about
 *   copy.yaml       optional: what the tenant has under that name
 *   context.yaml    { resource, key } besides what the cases of kinds have
 *   expected.yaml   what is decided
 * `npm run golden:update` rewrites expected.yaml.
 */
type MirrorContext = GoldenContext & { resource?: string; key?: ObjectRef }

const CUSTOM = 'widgets.example.com'
const FOLDERS = [
  'csi-drivers',
  'csi-nodes',
  'csi-storage-capacities',
  'custom-resource-definitions',
  'custom-resources',
  'device-classes',
  'gateway-classes',
  'ingress-classes',
  'mapped-data',
  'nodes',
  'persistent-volumes',
  'priority-classes',
  'runtime-classes',
  'storage-classes',
  'volume-snapshot-classes',
]
const cases = FOLDERS.flatMap((folder) => goldenCases(`mirrors/${folder}`).map((each) => ({ place: folder, ...each })))

describe('what the tenant sees of the host, as the golden files have it', () => {
  test.each(cases)('$place: $name', async (given) => {
    const view = viewOf(given)
    const decisions = decideFor(view)
    expect(decideFor(view)).toEqual(decisions)
    const path = `${given.folder}/expected.yaml`
    await expect(stringify(decisions.map(told), { lineWidth: 120, sortMapEntries: true })).toMatchFileSnapshot(path)
  })

  test('has a case of every kind', () => {
    const shown = new Set(cases.map(({ context }) => (context as MirrorContext).resource))
    expect([...Object.keys(MIRRORS), CUSTOM].filter((resource) => !shown.has(resource))).toEqual([])
  })
})

describe.each(cases.filter(({ folder }) => readGolden(folder, 'original.yaml') !== undefined))(
  'what the host has of $place: $name',
  (given) => {
    test('is shown alike each time, in the tenant alone, and tells nothing of what is ours', () => {
      fc.assert(
        fc.property(hostility, ({ labels, annotations, unknownAt, namespaces }) => {
          const view = viewOf(given)
          const original = view.original?.object ?? view.host.object
          if (original === undefined) throw new Error('there is no original')
          const hostile = madeHostile(original, { labels, annotations, unknownAt, namespaces })
          const decisions = decideFor(withOriginal(view, deepFreeze(hostile)))
          expect(decideFor(withOriginal(view, deepFreeze(hostile)))).toEqual(decisions)
          expect(sidesOf(decisions)).not.toContain('host')
          expect(ownKeys(decisions).filter((key) => !OURS.has(key))).toEqual([])
        }),
        { numRuns: 25 },
      )
    })
  },
)

const OURS: ReadonlySet<string> = new Set([LABELS.mirror, LABELS.virtualNode])

function viewOf({ folder, context }: GoldenCase): View {
  const { resource = '', key: given, config } = context as MirrorContext
  const original = readGolden<KubeObject>(folder, 'original.yaml')
  const copy = readGolden<KubeObject>(folder, 'copy.yaml')
  const tenant = { ...TENANT, ...context.tenant, config: configOf(config) }
  const key = given ?? keyOf(original, resource, tenant)
  const presence = original === undefined ? { seq: 0 } : { object: original, seq: 20 }
  return deepFreeze({
    tenant,
    key,
    virtual: copy === undefined ? { seq: 0 } : { object: copy, seq: 10 },
    ...(isTwoSided(resource) ? { host: { seq: 0 }, original: { ...presence, synced: true } } : { host: presence }),
    related: memoryRelated(context),
    waitedMs: 0,
  })
}

function withOriginal(view: View, object: KubeObject): View {
  if (view.original === undefined) return { ...view, host: { ...view.host, object } }
  return { ...view, original: { ...view.original, object } }
}

/** Where the tenant sees the object. */
function keyOf(original: KubeObject | undefined, resource: string, tenant: View['tenant']): ObjectRef {
  const ref = { resource, namespace: original?.metadata.namespace ?? '', name: original?.metadata.name ?? '' }
  const copies = mirrorFor(resource)?.copiesOf?.(ref, tenant) ?? [ref]
  return copies[0] ?? ref
}

function told(decision: Decision): unknown {
  if (decision.kind !== 'write') return decision
  const { base: _base, ...rest } = decision
  return rest
}

function sidesOf(decisions: readonly Decision[]): string[] {
  return decisions.flatMap((decision) => (decision.kind === 'write' ? [decision.target.side] : []))
}

/** Keys of ours that copies are given. */
function ownKeys(decisions: readonly Decision[]): string[] {
  return decisions.flatMap((decision) => {
    if (decision.kind !== 'write' || decision.write.op !== 'create') return []
    const { labels, annotations } = decision.write.body.metadata
    return Object.keys({ ...labels, ...annotations }).filter((key) => key.startsWith(OWN_PREFIX))
  })
}

function configOf(config: JsonObject | undefined): View['tenant']['config'] {
  const parsed = parseTenantConfig(config)
  if (parsed.config === undefined) throw new Error(JSON.stringify(parsed.problems))
  return parsed.config
}
