import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parse as parseYaml } from 'yaml'
import { FOREIGN_KEYS } from './foreign-keys.ts'
import { defaultTenantConfig, isEnabled, parseTenantConfig, tenantConfigSchema } from './index.ts'
import { childrenOf } from './schema-tree.ts'

/** The configuration of a YAML text that is valid. */
function configOf(text: string): NonNullable<ReturnType<typeof parseTenantConfig>['config']> {
  const { config, problems } = parseTenantConfig(parseYaml(text))
  expect(problems).toEqual([])
  if (config === undefined) throw new Error('no configuration')
  return config
}

function problemsOf(text: string): string[] {
  const { config, problems } = parseTenantConfig(parseYaml(text))
  expect(config).toBeUndefined()
  return problems.map(({ path, message }) => `${path}: ${message}`)
}

describe('defaults', () => {
  test.each(['{}', '', 'sync:', 'sync: { toHost: { pods: } }'])('hold for what is not given: %j', (text) => {
    expect(configOf(text)).toEqual(defaultTenantConfig())
  })

  const onByDefault = [
    'pods',
    'services',
    'endpoints',
    'endpointSlices',
    'configMaps',
    'secrets',
    'persistentVolumeClaims',
  ]

  test('what of the tenant crosses is on for the kinds that workloads need, and off for all others', () => {
    const { toHost } = defaultTenantConfig().sync
    const on = Object.entries(toHost).flatMap(([key, kind]) =>
      'enabled' in kind && kind.enabled === true ? [key] : [],
    )
    expect(on.sort()).toEqual([...onByDefault].sort())
  })

  test('of the host the tenant sees events alone', () => {
    const { fromHost } = defaultTenantConfig().sync
    const on = Object.entries(fromHost).flatMap(([key, kind]) =>
      'enabled' in kind && kind.enabled === true ? [key] : [],
    )
    expect(on).toEqual(['events'])
  })

  test('cannot be changed by who looks at them', () => {
    const pods = defaultTenantConfig().sync.toHost.pods as { enabled: boolean }
    expect(() => (pods.enabled = false)).toThrow(TypeError)
  })
})

describe('switches', () => {
  const directions = ['toHost', 'fromHost'] as const
  const keys = directions.flatMap((direction) =>
    childrenOf(tenantConfigSchema.shape.sync.unwrap().shape[direction])
      .map(([key]) => key)
      // Custom resources have no switch of their own; namespaces do not go with the Gateway API.
      .filter((key) => !['customResources', 'namespaces'].includes(key))
      .map((key) => [direction, key] as const),
  )

  test.each(keys)('sync.%s.%s turns on and off', (direction, key) => {
    const others = key === 'configMaps' || key === 'secrets' ? { mappings: { byName: { 'a/b': 'c/d' } } } : {}
    for (const enabled of [true, false]) {
      const kind = { enabled, ...(direction === 'fromHost' && enabled ? others : {}) }
      const { config, problems } = parseTenantConfig({ sync: { [direction]: { [key]: kind } } })
      expect(problems).toEqual([])
      expect(config?.sync[direction]).toMatchObject({ [key]: { enabled } })
    }
  })

  test('the Gateway API as a whole turns on Gateways, HTTPRoutes and the host’s GatewayClasses', () => {
    const config = configOf('sync: { toHost: { gatewayApi: { enabled: true } } }')
    expect(isEnabled(config, 'toHost', 'gatewayApi.gateways')).toBe(true)
    expect(isEnabled(config, 'toHost', 'gatewayApi.httpRoutes')).toBe(true)
    expect(isEnabled(config, 'toHost', 'gatewayApi.tlsRoutes')).toBe(false)
    expect(isEnabled(config, 'fromHost', 'gatewayClasses')).toBe(true)
  })

  test('grants do not cross by themselves while all namespaces share one on the host', () => {
    const grants = (text: string): boolean => isEnabled(configOf(text), 'toHost', 'gatewayApi.referenceGrants')
    expect(grants('sync: { toHost: { gatewayApi: { httpRoutes: { enabled: true } } } }')).toBe(false)
    expect(grants('sync: { toHost: { gatewayApi: { referenceGrants: { enabled: true } } } }')).toBe(true)
    expect(grants('sync: { toHost: { namespaces: { enabled: true }, gatewayApi: { enabled: true } } }')).toBe(true)
    expect(grants('sync: { toHost: { namespaces: { enabled: true } } }')).toBe(false)
  })

  test('custom resources are found with or without the version they were configured with', () => {
    const config = configOf(`
      sync:
        toHost: { customResources: { certificates.cert-manager.io/v1: { enabled: true } } }
        fromHost: { customResources: { clusterissuers.cert-manager.io: { enabled: true, scope: Cluster } } }`)
    expect(isEnabled(config, 'toHost', 'certificates.cert-manager.io')).toBe(true)
    expect(isEnabled(config, 'toHost', 'issuers.cert-manager.io')).toBe(false)
    expect(isEnabled(config, 'fromHost', 'clusterissuers.cert-manager.io')).toBe(true)
  })

  test('nothing crosses to the host for a tenant with nodes of its own', () => {
    const config = configOf('nodes: { model: private }\nsync: { fromHost: { storageClasses: { enabled: true } } }')
    expect(isEnabled(config, 'toHost', 'pods')).toBe(false)
    expect(isEnabled(config, 'fromHost', 'events')).toBe(false)
    expect(isEnabled(config, 'fromHost', 'storageClasses')).toBe(true)
  })
})

test.each([
  ['sync: { toHost: { pods: { enabled: 1 } } }', 'sync.toHost.pods.enabled: must be true or false, not 1'],
  ['sync: []', 'sync: must be a mapping of keys, not a list'],
  ['- a', ': must be a mapping of keys'],
  ['sync: { toHost: { pod: {} } }', 'sync.toHost.pod: is no known key; did you mean sync.toHost.pods?'],
  [
    'sync: { ingressClasses: {} }',
    'sync.ingressClasses: is no known key here; did you mean sync.fromHost.ingressClasses?',
  ],
  ['telemetri: {}', 'telemetri: is no known key; did you mean telemetry?'],
  [
    'sync: { fromHost: { storageClasses: { enabled: "on" } } }',
    'sync.fromHost.storageClasses.enabled: must be true, false or auto, not "on"',
  ],
  [
    'policies: { podSecurityStandard: Baseline }',
    'policies.podSecurityStandard: must be privileged, baseline or restricted, not "Baseline"; did you mean baseline?',
  ],
  ['networking: { apiServer: { port: 99999 } }', 'networking.apiServer.port: must be at most 65535'],
  ['networking: { dns: { service: coredns } }', 'networking.dns.service: must be NAMESPACE/NAME'],
  ['reservedLabels: release', 'reservedLabels: must be a list, not "release"'],
  ['owner: { apiVersion: v1, kind: Service, name: a }', 'owner.uid: is missing'],
  ['nodes: { selector: { a: b } }', 'nodes.selector: is for nodes.model dedicated, not shared'],
  [
    'nodes: { model: dedicated, selector: { a: b }, tolerations: [{ value: x }] }',
    'nodes.tolerations[0]: needs a key, or the operator Exists',
  ],
  [
    'nodes: { model: private }\nsync: { fromHost: { nodes: { enabled: true } } }',
    'sync.fromHost.nodes.enabled: cannot be on with nodes.model private: the tenant has nodes of its own',
  ],
  [
    'nodes: { model: shared }\nprivateNodes: { enabled: true }',
    'privateNodes.enabled: contradicts nodes.model, which is "shared"',
  ],
  [
    'sync: { toHost: { priorityClasses: { enabled: true } }, fromHost: { priorityClasses: { enabled: true } } }',
    'sync.fromHost.priorityClasses.enabled: cannot be on together with sync.toHost.priorityClasses.enabled: one side must own them',
  ],
  [
    'sync: { toHost: { customResources: { a.b.c/v1: { enabled: true } } }, fromHost: { customResources: { a.b.c: { enabled: true, scope: Cluster } } } }',
    'sync.fromHost.customResources["a.b.c"]: crosses to the host as well, by sync.toHost.customResources: one side must own them',
  ],
  [
    'sync: { toHost: { namespaces: { enabled: true }, gatewayApi: { grpcRoutes: { enabled: true }, referenceGrants: { enabled: false } } } }',
    'sync.toHost.gatewayApi.referenceGrants.enabled: cannot be off where namespaces and the Gateway API cross: the host permits no reference between namespaces without',
  ],
  [
    'sync: { toHost: { namespaces: { mappings: { byName: { a: one, b: one } } } } }',
    'sync.toHost.namespaces.mappings.byName.b: "one" stands for another namespace already',
  ],
  [
    'sync: { toHost: { customResources: { ingresses.networking.k8s.io: { enabled: true } } } }',
    'sync.toHost.customResources["ingresses.networking.k8s.io"]: is no custom resource here: it has a key of its own, or does not cross',
  ],
  [
    'sync: { toHost: { customResources: { a.b.c: { enabled: true }, a.b.c/v1: { enabled: true } } } }',
    'sync.toHost.customResources["a.b.c/v1"]: is there already, in another version: only one crosses',
  ],
  [
    'sync: { toHost: { customResources: { Certificate: { enabled: true } } } }',
    'sync.toHost.customResources.Certificate: must be PLURAL.GROUP or PLURAL.GROUP/VERSION, such as certificates.cert-manager.io',
  ],
  [
    'sync: { fromHost: { customResources: { a.b.c: { enabled: true, scope: Namespaced } } } }',
    'sync.fromHost.customResources["a.b.c"].mappings.byName: is empty: say which host objects, for example {"shared/*": "from-host/*"}',
  ],
  [
    'sync: { fromHost: { secrets: { enabled: true } } }',
    'sync.fromHost.secrets.mappings.byName: is empty: say which host objects, for example {"shared/*": "from-host/*"}',
  ],
  [
    'sync: { fromHost: { configMaps: { mappings: { byName: { a/*: b/c } } } } }',
    'sync.fromHost.configMaps.mappings.byName["a/*"]: "a/*" and "b/c" must both end with /* or both name an object',
  ],
  [
    'sync: { fromHost: { configMaps: { mappings: { byName: { "*/x": b/c } } } } }',
    'sync.fromHost.configMaps.mappings.byName["*/x"]: the key must be NAMESPACE/NAME, NAMESPACE/*, /NAME or empty',
  ],
  [
    'sync: { toHost: { namespaces: { mappings: { byName: { "team-*": host } } } } }',
    'sync.toHost.namespaces.mappings.byName["team-*"]: "team-*" and "host" must both hold one * or none',
  ],
  [
    'sync: { toHost: { pods: { enforceTolerations: ["a=b:Never"] } } }',
    'sync.toHost.pods.enforceTolerations[0]: "Never" is no effect; it must be NoSchedule, PreferNoSchedule, NoExecute',
  ],
  [
    'sync: { toHost: { services: { patches: [{ path: spec.type }] } } }',
    'sync.toHost.services.patches[0]: needs one of expression, reference and labels, and only one',
  ],
  [
    'sync: { toHost: { services: { patches: [{ path: a, labels: {} }, { path: a, expression: value }] } } }',
    'sync.toHost.services.patches[1].path: "a" is patched twice',
  ],
])('says what is wrong with %s', (text, problem) => {
  expect(problemsOf(text)).toEqual([problem])
})

test('problems of different kinds are all told at once', () => {
  const text = `
    telemetry: { enabled: false }
    plugins: { a: { image: b } }
    sync:
      toHost: { ingress: {}, pods: { enabled: 'yes', patches: [{ path: '' }] } }
      fromHost: { configMaps: { enabled: true }, customResources: { a.b.c: { enabled: true } } }`
  expect(problemsOf(text).map((line) => line.slice(0, line.indexOf(': ')))).toEqual([
    'plugins',
    'sync.toHost.pods.enabled',
    'sync.toHost.pods.patches[0].path',
    'sync.toHost.ingress',
    'sync.fromHost.customResources["a.b.c"].scope',
    'sync.fromHost.configMaps.mappings.byName',
  ])
})

test('callers that can run patches say what is wrong with them', () => {
  const value = { sync: { toHost: { pods: { patches: [{ path: 'spec.x', expression: 'va lue' }] } } } }
  const { problems } = parseTenantConfig(value, { checkPatch: ({ expression }) => `"${expression}" cannot be read` })
  expect(problems).toEqual([{ path: 'sync.toHost.pods.patches[0]', message: '"va lue" cannot be read' }])
})

describe('keys of vCluster', () => {
  const refused = FOREIGN_KEYS.filter((key) => key.refused !== undefined)

  test.each(refused.map(({ path }) => path.join('.')))(
    '%s is refused when it is on, and passes when it is off',
    (path) => {
      const nest = (value: unknown): unknown => path.split('.').reduceRight((inner, key) => ({ [key]: inner }), value)
      const asked = parseTenantConfig(nest(path.endsWith('.enabled') ? true : { enabled: true })).problems
      expect(asked).toEqual([{ path, message: expect.stringMatching(/^is not supported: /) as string }])
      for (const value of [path.endsWith('.enabled') ? false : { enabled: false }, null]) {
        expect(parseTenantConfig(nest(value))).toMatchObject({ problems: [], config: {} })
      }
    },
  )

  test('what vCluster calls otherwise is taken over where ours is not given', () => {
    const text = `
      controlPlane: { advanced: { workloadServiceAccount: { name: runner } } }
      privateNodes: { enabled: true }
      policies: { podSecurityStandard: '' }`
    expect(configOf(text)).toMatchObject({
      workloadServiceAccount: 'runner',
      nodes: { model: 'private' },
      policies: { podSecurityStandard: 'baseline' },
    })
    expect(configOf(`workloadServiceAccount: mine\n${text.replace(/^ {6}/gm, '')}`).workloadServiceAccount).toBe('mine')
  })
})

test('a resolved configuration is read as itself', () => {
  const kind = fc.record({ enabled: fc.boolean() }, { requiredKeys: [] })
  const automatic = fc.record({ enabled: fc.constantFrom(true, false, 'auto') }, { requiredKeys: [] })
  const byName = fc.dictionary(fc.constantFrom('a/b', 'c/d', '/e'), fc.constantFrom('x/y', 'z/w'), { minKeys: 1 })
  const written = fc.record(
    {
      sync: fc.record(
        {
          toHost: fc.record(
            {
              pods: kind,
              ingresses: kind,
              gatewayApi: fc.record({ enabled: fc.boolean(), httpRoutes: kind, referenceGrants: automatic }),
            },
            { requiredKeys: [] },
          ),
          fromHost: fc.record(
            {
              storageClasses: automatic,
              csiNodes: automatic,
              gatewayClasses: kind,
              secrets: fc.record({ enabled: fc.boolean(), mappings: fc.record({ byName }) }),
            },
            { requiredKeys: [] },
          ),
        },
        { requiredKeys: [] },
      ),
      networking: fc.record({
        dns: fc.record({ enabled: fc.constantFrom(true, false, 'auto'), address: fc.ipV4() }, { requiredKeys: [] }),
      }),
      reservedLabels: fc.array(fc.string()),
    },
    { requiredKeys: [] },
  )
  fc.assert(
    fc.property(written, (value) => {
      const before = structuredClone(value)
      const { config, problems } = parseTenantConfig(value)
      expect(problems).toEqual([])
      expect(value).toEqual(before)
      expect(parseTenantConfig(config)).toEqual({ config, problems: [], ignored: [] })
    }),
  )
})

test('reading never throws, whatever it is given', () => {
  fc.assert(
    fc.property(
      fc.dictionary(fc.constantFrom('sync', 'nodes', 'policies', 'networking', 'owner', '__proto__'), fc.jsonValue()),
      (value) => {
        const { config, problems } = parseTenantConfig(value)
        expect(config === undefined).toBe(problems.length > 0)
      },
    ),
    { numRuns: 40 },
  )
})
