import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { canonicalJson } from '#libs/kernel'
import type { Json, JsonObject, KubeObject } from '#libs/kube-model'
import { defaultTenantConfig, parseTenantConfig } from '#libs/sync-config'
import { checkPatch } from './configured/check-patch.ts'
import { withPatches } from './configured/with-patches.ts'
import { asObject, stringMap } from './json.ts'
import type { Kind, PairInput } from './kind.ts'
import { hostLabelKey } from './metadata.ts'
import { hostNamespaceFor, hostRefOf } from './names.ts'
import { KINDS, kindFor } from './registry.ts'
import { ANNOTATIONS, OWN_PREFIX, isCopyOf, stampsFor, virtualRefOf } from './stamps.ts'
import { applyPatch } from './testing/apply-patch.ts'
import { type GoldenCase, goldenCases, readGolden } from './testing/golden-cases.ts'
import { UNKNOWN, hostility, madeHostile, placesIn } from './testing/hostile.ts'
import { TENANT, deepFreeze, memoryRelated } from './testing/index.ts'
import type { TenantContext } from './view.ts'

/*
 * What holds for every kind, with the objects and contexts of the golden files as they would be if a tenant meant harm:
 * with hostile names, labels that are ours, namespaces of others, and fields that nobody knows. In each way in which a
 * tenant may be configured.
 */
const CUSTOM = 'widgets.example.com'
const kinds: readonly [string, Kind][] = [...Object.entries(KINDS), [CUSTOM, kindFor(CUSTOM) as Kind]]
const TEAM = 'example.com/team'
const runs = { numRuns: 25 }

/** Ways in which a tenant may be configured: what its operator adds to the configuration of a golden case. */
const WAYS: Readonly<Record<string, (config: JsonObject, resource: string) => Partial<TenantContext> | undefined>> = {
  'as it is': (config) => configured(config),
  'with a host namespace for each of its own': (config) =>
    configured(merged(config, { sync: { toHost: { namespaces: { enabled: true } } } })),
  'with labels that the operator reserves': (config) => {
    const tenant = configured(config)
    return tenant === undefined ? undefined : { ...tenant, reservedLabels: ['release', 'app'] }
  },
  'with patches': (config, resource) => configured(merged(config, patchesFor(resource))),
}

type Subject = { virtual: KubeObject; tenant: TenantContext; related: ReturnType<typeof memoryRelated> }

describe.each(kinds)('%s of a tenant that means harm', (resource, kind) => {
  const cases = goldenCases(`kinds/${resource === CUSTOM ? 'customresources' : resource}`)
  describe.each(Object.keys(WAYS))('%s', (way) => {
    const subjects = cases.flatMap((each) => subjectOf(each, resource, way))
    const hostile = fc
      .tuple(fc.constantFrom(...subjects), hostility)
      .map(([subject, given]) => deepFreeze({ ...subject, virtual: madeHostile(subject.virtual, given) }))

    test('is translated alike each time, into a copy that is its own and in no namespace but its own', () => {
      let crossed = 0
      fc.assert(
        fc.property(hostile, (subject) => {
          const made = copyOf(kind, subject)
          expect(canonicalJson(made)).toBe(canonicalJson(copyOf(kind, subject)))
          if (made.kind !== 'object') return
          crossed++
          isItsOwn(made.object, subject, resource)
          keepsUnknown(made.object, subject, resource)
          namesNoForeignNamespace(made.object, subject, resource)
        }),
        runs,
      )
      expect(crossed).toBeGreaterThan(0)
    })

    test('agrees with the copy as it was made, and gets back from it what it loses', () => {
      fc.assert(
        fc.property(hostile, (subject) => {
          const made = copyOf(kind, subject)
          if (made.kind !== 'object') return
          const host = deepFreeze({ ...made.object, metadata: { ...made.object.metadata, uid: 'host-uid' } })
          const pair = { ...subject, host, seq: { virtual: 1, host: 2 } }
          const writes = reconcile(kind, made.base === undefined ? pair : { ...pair, base: made.base })
          expect(writes.filter(({ side }) => side === 'host')).toEqual([])
          expect(metadataWritten(writes)).toEqual([])
          comesBack(kind, pair)
        }),
        runs,
      )
    })
  })
})

/** The stamps are those of the object and nothing else is under our prefix. */
function isItsOwn(host: KubeObject, { virtual, tenant }: Subject, resource: string): void {
  const { namespace = '', name = '' } = virtual.metadata
  const ref = { resource, namespace, name }
  expect({ ...ref, namespace: host.metadata.namespace ?? '', name: host.metadata.name }).toEqual(hostRefOf(ref, tenant))
  expect(isCopyOf(host, tenant, ref)).toBe(true)
  expect(virtualRefOf(host)).toEqual({ tenant: tenant.name, ref })
  const stamps = stampsFor(ref, virtual, tenant)
  const labels = Object.entries(own(host.metadata.labels)).filter(([key]) => !isDerivedLabel(key, { virtual, tenant }))
  expect(Object.fromEntries(labels)).toEqual(stamps.labels)
  const annotations = own(host.metadata.annotations)
  expect(annotations).toMatchObject(stamps.annotations)
  const allowed = new Set<string>(Object.values(ANNOTATIONS))
  expect(Object.keys(annotations).filter((key) => !allowed.has(key))).toEqual([])
}

/** Labels of ours that carry the tenant's: reserved ones, and those of the pod's namespace. */
function isDerivedLabel(key: string, { virtual, tenant }: Pick<Subject, 'virtual' | 'tenant'>): boolean {
  const reserved = (tenant.reservedLabels ?? []).filter((label) => virtual.metadata.labels?.[label] !== undefined)
  return reserved.some((label) => hostLabelKey(label, tenant) === key) || /^causeway\.dev\/ns-(?!0123456789)/.test(key)
}

/** Where a kind takes more than names away, it is known what. */
const REPLACED: Readonly<Record<string, RegExp>> = {
  // What it is the host's to say.
  namespaces: /./,
  // The claim of the tenant's controller, and the token of its API, take their place; what the host's API
  // derives anew of `matchLabelKeys` is left out.
  pods: /\.labelSelector\.matchExpressions\[\]\.|\.volumes\[\]\.ephemeral\.|\.projected\.sources\[\]\./,
  'gateways.gateway.networking.k8s.io': /\.allowedRoutes\.namespaces\./,
}

function keepsUnknown(host: KubeObject, { virtual }: Subject, resource: string): void {
  const path = pathOf(virtual as Json)
  if (REPLACED[resource]?.test(path) === true) return
  expect(`${path}: ${JSON.stringify(host).includes(UNKNOWN)}`).toBe(`${path}: true`)
}

function namesNoForeignNamespace(host: KubeObject, { virtual, tenant, related }: Subject, resource: string): void {
  // Nothing is known of the fields of custom resources.
  if (resource === CUSTOM) return
  const words = JSON.stringify([virtual, related]).match(/[\w.-]+/g) ?? []
  const allowed = new Set([...words.map((word) => hostNamespaceFor(word, tenant)), 'Same', ''])
  const { metadata: _metadata, ...content } = host as unknown as JsonObject
  const named = placesIn(content).flatMap((place) =>
    Object.entries(place).filter(([key, value]) => /namespace$/i.test(key) && typeof value === 'string'),
  )
  expect(named.filter(([key, value]) => !key.startsWith(OWN_PREFIX) && !allowed.has(value as string))).toEqual([])
}

/** What crossed as it is comes back to an object that has lost it, where nothing is known of the past. */
function comesBack(kind: Kind, pair: PairInput): void {
  const { virtual, host, tenant } = pair
  const { labels, annotations, ...metadata } = virtual.metadata
  const { data, ...rest } = virtual as KubeObject & { data?: Record<string, string> }
  // Of an immutable object nothing comes back but metadata.
  const lost = virtual['immutable'] === true ? { ...virtual, metadata } : { ...rest, metadata }
  const restored = settled(kind, { ...pair, virtual: lost as KubeObject })
  const crossed = {
    labels: entriesOf(labels, (key, value) => host.metadata.labels?.[hostLabelKey(key, tenant)] === value),
    annotations: entriesOf(annotations, (key, value) => host.metadata.annotations?.[key] === value),
  }
  expect(stringMap(restored.metadata.labels)).toMatchObject(crossed.labels)
  expect(stringMap(restored.metadata.annotations)).toMatchObject(crossed.annotations)
  expect(restored['data'] ?? {}).toEqual(data ?? {})
}

/** The entries that are not ours and hold. */
function entriesOf(map: unknown, hold: (key: string, value: string) => boolean): Record<string, string> {
  const entries = Object.entries(stringMap(map)).filter(
    ([key, value]) => !key.startsWith(OWN_PREFIX) && hold(key, value),
  )
  return Object.fromEntries(entries)
}

/** The tenant's object once both sides agree. */
function settled(kind: Kind, given: PairInput): KubeObject {
  let pair = given
  for (let round = 0; round < 4; round++) {
    for (const { side, write, base } of reconcile(kind, deepFreeze(pair))) {
      if (write.op !== 'patch' || Array.isArray(write.body)) continue
      const changed = applyPatch(pair[side] as unknown as JsonObject, write.body, write.patchType === 'strategic')
      pair = { ...pair, [side]: changed, ...(base === undefined ? {} : { base }) }
    }
  }
  return pair.virtual
}

function metadataWritten(writes: ReturnType<Kind['reconcile']>): unknown[] {
  return writes.flatMap(({ write }) =>
    write.op === 'patch' && !Array.isArray(write.body) && write.body['metadata'] !== undefined ? [write.body] : [],
  )
}

function copyOf(kind: Kind, { virtual, tenant, related }: Subject) {
  return withPatches(kind, tenant).toHost({ virtual, tenant, related })
}

function reconcile(kind: Kind, pair: PairInput) {
  return withPatches(kind, pair.tenant, pair.base).reconcile(pair)
}

/** A golden case as a tenant that is configured in this way has it; none where that is refused or nothing crosses. */
function subjectOf({ folder, context }: GoldenCase, resource: string, way: string): Subject[] {
  const tenant = WAYS[way]?.(context.config ?? {}, resource)
  const virtual = readGolden<KubeObject>(folder, 'virtual.yaml')
  const kind = kindFor(resource)
  if (tenant === undefined || virtual === undefined || kind === undefined) return []
  const subject = { virtual, tenant: { ...TENANT, ...context.tenant, ...tenant }, related: memoryRelated(context) }
  return copyOf(kind, subject).kind === 'object' ? [subject] : []
}

function configured(config: JsonObject): Pick<TenantContext, 'config'> | undefined {
  const parsed = parseTenantConfig(config, { checkPatch })
  return parsed.config === undefined ? undefined : { config: parsed.config }
}

function patchesFor(resource: string): JsonObject {
  const patches = [
    {
      path: `metadata.annotations["${TEAM}"]`,
      expression: 'context.tenant + "/" + value',
      reverseExpression: 'value.trimPrefix(context.tenant + "/")',
    },
    { path: 'metadata.labels["constructor"]', expression: '"built"' },
  ]
  if (resource === CUSTOM) return { sync: { toHost: { customResources: { [CUSTOM]: { enabled: true, patches } } } } }
  const plural = resource.split('.')[0]
  const { gatewayApi, ...toHost } = defaultTenantConfig().sync.toHost
  const find = (keys: object): string | undefined => Object.keys(keys).find((key) => key.toLowerCase() === plural)
  const [key, nested] = [find(toHost), find(gatewayApi)]
  if (key !== undefined) return { sync: { toHost: { [key]: { patches } } } }
  return { sync: { toHost: { gatewayApi: { [nested ?? '']: { patches } } } } }
}

function merged(config: JsonObject, more: JsonObject): JsonObject {
  return applyPatch(config, more, false)
}

function pathOf(value: Json, path = ''): string {
  if (Array.isArray(value)) return value.map((item) => pathOf(item, `${path}[]`)).find((found) => found !== '') ?? ''
  const object = asObject(value)
  if (object === undefined) return ''
  if (object['zz'] === UNKNOWN) return path
  return (
    Object.entries(object)
      .map(([key, inner]) => pathOf(inner ?? null, `${path}.${key}`))
      .find((found) => found !== '') ?? ''
  )
}

function own(map: Record<string, string> | undefined): Record<string, string> {
  return Object.fromEntries(Object.entries(map ?? {}).filter(([key]) => key.startsWith(OWN_PREFIX)))
}
