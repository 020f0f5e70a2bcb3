import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { canonicalJson } from '#libs/kernel'
import type { JsonObject, KubeObject } from '#libs/kube-model'
import { parseTenantConfig } from '#libs/sync-config'
import { asObject } from './json.ts'
import type { Kind, ToHost } from './kind.ts'
import { referenceSites } from './kinds/pods/references.ts'
import { hostName, hostNamespaceFor } from './names.ts'
import { decideFor, KINDS } from './registry.ts'
import { ANNOTATIONS, OWN_PREFIX, TOKEN_SECRET_PREFIX, isCopyOf, stampsFor, virtualRefOf } from './stamps.ts'
import { TENANT, deepFreeze, memoryRelated } from './testing/index.ts'

/*
 * What holds for every kind and whatever a tenant's API serves: half of the objects look like what they are, with
 * hostile names; the other half have any JSON in place of their fields.
 */
const related = memoryRelated()
const spread = parseTenantConfig({ sync: { toHost: { namespaces: { enabled: true } } } }).config
const SPREAD = { ...TENANT, config: spread ?? TENANT.config }
const text = fc.constantFrom('a', 'x', 'a-x-b', 'kube-root-ca.crt', 'tenant-team-b', '../x', '')
const key = fc.constantFrom(
  'app',
  'causeway.dev/tenant',
  'causeway.dev/host-name',
  'causeway.dev/uid',
  'causeway.dev/ns-0123456789',
  'constructor',
  'release',
)
const map = fc.dictionary(key, text)
const named = (field: string) => fc.record({ [field]: text, optional: fc.boolean() }, { requiredKeys: [field] })
const fieldRef = fc.record({
  fieldPath: fc.oneof(
    fc.constantFrom('metadata.name', 'metadata.labels', 'spec.serviceAccountName', 'status.podIP'),
    key.map((name) => `metadata.annotations['${name}']`),
    key.map((name) => `metadata.labels['${name}']`),
  ),
})
const volume = fc.record(
  {
    name: text,
    configMap: named('name'),
    secret: named('secretName'),
    persistentVolumeClaim: fc.record({ claimName: text }),
    projected: fc.record({
      sources: fc.array(
        fc.oneof(
          fc.record({ configMap: named('name') }),
          fc.record({ serviceAccountToken: fc.record({ path: text }) }),
          fc.record({ downwardAPI: fc.record({ items: fc.array(fc.record({ path: text, fieldRef })) }) }),
        ),
      ),
    }),
    csi: fc.record({ nodePublishSecretRef: named('name') }),
  },
  { requiredKeys: ['name'] },
)
const container = fc.record(
  {
    name: text,
    image: text,
    env: fc.array(
      fc.record({
        name: text,
        valueFrom: fc.oneof(fc.record({ secretKeyRef: named('name') }), fc.record({ fieldRef })),
      }),
    ),
    envFrom: fc.array(fc.record({ configMapRef: named('name') })),
  },
  { requiredKeys: ['name'] },
)
/** No API lets two containers of a pod have one name. */
const containers = (prefix: string) =>
  fc
    .uniqueArray(container, { maxLength: 3, selector: ({ name }) => name })
    .map((list) => list.map((item) => ({ ...item, name: prefix + item.name })))
const selector = fc.record({
  matchLabels: map,
  matchExpressions: fc.array(fc.record({ key, operator: fc.constant('Exists') })),
})
const spec = fc.record(
  {
    containers: containers('c'),
    initContainers: containers('i'),
    volumes: fc.array(volume, { maxLength: 4 }),
    imagePullSecrets: fc.array(fc.record({ name: text })),
    serviceAccountName: text,
    nodeName: text,
    topologySpreadConstraints: fc.array(fc.record({ labelSelector: selector, matchLabelKeys: fc.array(key) })),
    selector: map,
    ports: fc.array(fc.record({ port: fc.integer(), nodePort: fc.integer() })),
  },
  { requiredKeys: [] },
)
const junk = fc.jsonValue({ maxDepth: 3 }).filter((value) => !JSON.stringify(value).includes('__proto__'))
const object = fc.record({
  metadata: fc.record({
    name: fc.constantFrom('web', 'a-x-b', 'a.b', 'x'),
    namespace: fc.constantFrom('default', 'x', 'b-x-c'),
    uid: fc.constantFrom('u1', 'u2'),
    labels: fc.oneof(map, junk),
    annotations: fc.oneof(map, junk),
  }),
  spec: fc.oneof(spec, junk),
  data: fc.oneof(map, junk),
  status: junk,
  type: junk,
  zzUnknown: junk,
}) as unknown as fc.Arbitrary<KubeObject>

const runs = { numRuns: 60 }
const copyOf = (kind: Kind, virtual: KubeObject, tenant = TENANT): ToHost => kind.toHost({ virtual, tenant, related })

describe.each(Object.entries(KINDS))('translating %s', (resource, kind) => {
  const holds = (law: (virtual: KubeObject, host: KubeObject) => void): void => {
    fc.assert(
      fc.property(object, (candidate) => {
        const virtual = deepFreeze(candidate)
        const copy = copyOf(kind, virtual)
        if (copy.kind === 'object') law(virtual, copy.object)
      }),
      runs,
    )
  }

  test('gives the same result for the same object, and leaves the object as it is', () => {
    holds((virtual, host) => {
      const again = copyOf(kind, virtual)
      expect(again.kind === 'object' && canonicalJson(again.object)).toBe(canonicalJson(host))
    })
  })

  test("puts the copy in the tenant's host namespace, under a name that leads back to the object", () => {
    holds((virtual, host) => {
      const ref = { resource, namespace: virtual.metadata.namespace ?? '', name: virtual.metadata.name ?? '' }
      expect(host.metadata.namespace).toBe(TENANT.hostNamespace)
      expect(host.metadata.name).toBe(hostName(ref, TENANT.name))
      expect(isCopyOf(host, TENANT, ref)).toBe(true)
      expect(virtualRefOf(host)).toEqual({ tenant: TENANT.name, ref })
      expect(virtualRefOf({ ...host, metadata: { ...host.metadata, name: 'copied' } })).toBeUndefined()
    })
  })

  test('names no host namespace but those that stand for the tenant’s, where each has one', () => {
    fc.assert(
      fc.property(object, (candidate) => {
        const copy = copyOf(kind, deepFreeze(candidate), SPREAD)
        if (copy.kind !== 'object') return
        const namespace = candidate.metadata.namespace ?? ''
        expect(copy.object.metadata.namespace).toBe(hostNamespaceFor(namespace, SPREAD))
        expect(canonicalJson(copy.object)).not.toContain(TENANT.hostNamespace)
      }),
      runs,
    )
  })

  test('lets nothing under our prefix be forged', () => {
    holds((virtual, host) => {
      const ref = { resource, namespace: virtual.metadata.namespace ?? '', name: virtual.metadata.name ?? '' }
      const stamps = stampsFor(ref, virtual, TENANT)
      expect(ownKeys(host.metadata.labels)).toEqual(stamps.labels)
      expect(ownKeys(host.metadata.annotations)).toMatchObject(stamps.annotations)
      const allowed = new Set<string>(Object.values(ANNOTATIONS))
      expect(Object.keys(ownKeys(host.metadata.annotations)).filter((name) => !allowed.has(name))).toEqual([])
    })
  })

  test("agrees with the copy it makes: deciding over the two gives no write of either's metadata or spec", () => {
    holds((virtual, host) => {
      const copy = copyOf(kind, virtual)
      if (copy.kind !== 'object' || virtual.metadata.deletionTimestamp !== undefined) return
      const served = deepFreeze({ ...host, metadata: { ...host.metadata, uid: 'host-uid' } })
      const input = {
        virtual,
        host: served,
        tenant: TENANT,
        related,
        seq: { virtual: 1, host: 2 },
        ...(copy.base === undefined ? {} : { base: copy.base }),
      }
      // What a tenant's junk status makes of status writes is another matter.
      const writes = kind.reconcile(input).filter(({ write }) => write.op !== 'patch' || write.subresource !== 'status')
      expect(writes.filter(({ side }) => side === 'host')).toEqual([])
    })
  })

  test('never throws over any two objects', () => {
    const ref = { resource, namespace: 'default', name: 'web' }
    fc.assert(
      fc.property(object, object, fc.boolean(), (virtual, host, ours) => {
        const copy = copyOf(kind, virtual)
        const present =
          ours && copy.kind === 'object' ? { ...host, metadata: { ...copy.object.metadata, uid: 'h' } } : host
        const view = deepFreeze({
          tenant: TENANT,
          key: ref,
          virtual: { object: virtual, seq: 1 },
          host: { object: present, seq: 2 },
          related,
          waitedMs: 0,
        })
        expect(decideFor(view)).toEqual(decideFor(view))
      }),
      runs,
    )
  })
})

describe('translating a pod', () => {
  const { pods } = KINDS
  const specs = fc.tuple(spec, junk).map(([fields, unknown]) => ({ ...fields, zzUnknown: unknown }) as JsonObject)
  const pod = specs.map(
    (fields) => ({ metadata: { name: 'web', namespace: 'default', uid: 'u' }, spec: fields }) as KubeObject,
  )

  const holds = (law: (virtual: JsonObject, host: JsonObject) => void): void => {
    fc.assert(
      fc.property(pod, (candidate) => {
        const virtual = deepFreeze(candidate)
        const copy = pods === undefined ? undefined : copyOf(pods, virtual)
        if (copy?.kind === 'object') law(asObject(virtual.spec) ?? {}, asObject(copy.object.spec) ?? {})
      }),
      runs,
    )
  }

  test('never leaves the nodes of a dedicated tenant', () => {
    const nodes = { model: 'dedicated', selector: { app: 'b' }, tolerations: [{ key: 'app', operator: 'Exists' }] }
    const { config } = parseTenantConfig({ nodes })
    if (pods === undefined || config === undefined) throw new Error('no pods, or no configuration')
    fc.assert(
      fc.property(pod, map, (candidate, nodeSelector) => {
        const virtual = { ...candidate, spec: { ...asObject(candidate.spec), nodeSelector } }
        const copy = copyOf(pods, virtual, { ...TENANT, config })
        if (copy.kind !== 'object') return
        expect(copy.object.spec).toMatchObject({ nodeSelector: { app: 'b' } })
        expect(copy.object.spec).not.toHaveProperty('nodeName')
      }),
      runs,
    )
  })

  test('keeps fields that we do not know', () => {
    holds((virtual, host) => expect(host.zzUnknown).toEqual(virtual.zzUnknown))
  })

  test('names no object of the host by a name that the tenant chose', () => {
    holds((virtual, host) => {
      const names = (fields: JsonObject): string[] =>
        referenceSites(fields).map(({ holder, field }) => String(holder[field] as string))
      // Tokens come from a Secret of our own.
      const ofTenant = names(host).filter((name) => !name.startsWith(TOKEN_SECRET_PREFIX))
      expect(ofTenant).toEqual(names(virtual).map((name) => hostName({ namespace: 'default', name }, TENANT.name)))
    })
  })

  test('hands out no credential of the host', () => {
    holds((_virtual, host) => {
      expect(canonicalJson(host)).not.toContain('"serviceAccountToken"')
      expect(host).toMatchObject({ serviceAccountName: 'default', automountServiceAccountToken: false })
    })
  })

  test('shows the pod none of our stamps but those that hold its own values', () => {
    const own = new Set(
      ['name', 'namespace', 'uid', 'labels', 'annotations', 'service-account-name', 'absent'].map(
        (name) => OWN_PREFIX + name,
      ),
    )
    holds((_virtual, host) => {
      const paths = [...canonicalJson(host).matchAll(/"fieldPath":"metadata\.\w+\['(causeway\.dev\/[^']*)'\]"/g)].map(
        ([, path]) => path ?? '',
      )
      expect(paths.filter((path) => !own.has(path) && !path.startsWith(`${OWN_PREFIX}label-`))).toEqual([])
    })
  })
})

function ownKeys(map: Record<string, string> | undefined): Record<string, string> {
  return Object.fromEntries(Object.entries(map ?? {}).filter(([name]) => name.startsWith(OWN_PREFIX)))
}
