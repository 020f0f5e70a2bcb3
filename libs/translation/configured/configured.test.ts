import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { JsonObject, KubeObject } from '#libs/kube-model'
import { parseTenantConfig } from '#libs/sync-config'
import { checkPatch } from '../index.ts'
import { asObject, objectsIn } from '../json.ts'
import { Simulation, TENANT, objectOf, podOf } from '../testing/index.ts'

type PatchText = JsonObject & { path: string }

function tenantWith(sync: JsonObject): typeof TENANT {
  const { config, problems } = parseTenantConfig({ sync }, { checkPatch })
  if (config === undefined) throw new Error(JSON.stringify(problems))
  return { ...TENANT, config }
}

const services = (patches: PatchText[]): Simulation => new Simulation(tenantWith({ toHost: { services: { patches } } }))

const WEB = { resource: 'services', namespace: 'default', name: 'web' }
const SUFFIX: PatchText = {
  path: 'metadata.annotations["dns/host"]',
  expression: 'value + ".tenants.example.com"',
  reverseExpression: 'value.trimSuffix(".tenants.example.com")',
}

function service(metadata: JsonObject, spec: JsonObject = {}): KubeObject {
  return objectOf('Service', 'web', { metadata, spec: { type: 'ClusterIP', ports: [{ port: 80 }], ...spec } })
}

function annotation(simulation: Simulation, side: 'virtual' | 'host', key = 'dns/host'): string | undefined {
  const ref = side === 'virtual' ? WEB : simulation.hostRef(WEB)
  return simulation.get(side, ref)?.metadata.annotations?.[key]
}

describe('a patched field that crosses both ways', () => {
  test('is patched on the copy, and nothing follows from the difference', () => {
    const simulation = services([SUFFIX])
    simulation.put('virtual', 'services', service({ annotations: { 'dns/host': 'web' } }))
    simulation.settle()
    expect(annotation(simulation, 'host')).toBe('web.tenants.example.com')
    expect(annotation(simulation, 'virtual')).toBe('web')
    expect(simulation.decide(WEB)).toEqual([])
  })

  test('follows the tenant, and comes back by its inverse', () => {
    const simulation = services([SUFFIX])
    simulation.put('virtual', 'services', service({ annotations: { 'dns/host': 'web' } }))
    simulation.settle()
    simulation.change('virtual', WEB, { metadata: { annotations: { 'dns/host': 'shop' } } })
    simulation.settle()
    expect(annotation(simulation, 'host')).toBe('shop.tenants.example.com')
    simulation.change('host', simulation.hostRef(WEB), {
      metadata: { annotations: { 'dns/host': 'new.tenants.example.com' } },
    })
    simulation.settle()
    expect([annotation(simulation, 'virtual'), annotation(simulation, 'host')]).toEqual([
      'new',
      'new.tenants.example.com',
    ])
  })

  test('goes when the tenant takes it out, and comes when the host adds it', () => {
    const simulation = services([SUFFIX])
    simulation.put('virtual', 'services', service({ annotations: { 'dns/host': 'web' } }))
    simulation.settle()
    simulation.change('virtual', WEB, { metadata: { annotations: { 'dns/host': null } } })
    simulation.settle()
    expect(annotation(simulation, 'host')).toBeUndefined()
    simulation.change('host', simulation.hostRef(WEB), {
      metadata: { annotations: { 'dns/host': 'x.tenants.example.com' } },
    })
    simulation.settle()
    expect(annotation(simulation, 'virtual')).toBe('x')
  })

  test('is patched on copies that were there before the patch, and never unpatched into the tenant’s object', () => {
    const before = new Simulation(TENANT)
    before.put('virtual', 'services', service({ annotations: { 'dns/host': 'web' } }))
    before.settle()
    const simulation = services([{ ...SUFFIX, reverseExpression: 'value.substring(0, 1)' }])
    simulation.put('virtual', 'services', before.get('virtual', WEB) as KubeObject)
    simulation.put('host', 'services', before.get('host', before.hostRef(WEB)) as KubeObject)
    simulation.settle()
    expect(annotation(simulation, 'virtual')).toBe('web')
    expect(annotation(simulation, 'host')).toBe('web.tenants.example.com')
  })

  test('is as the tenant has it when the patch goes, and as another makes it when it changes', () => {
    const simulation = services([SUFFIX])
    simulation.put('virtual', 'services', service({ annotations: { 'dns/host': 'web' } }))
    simulation.settle()
    simulation.configure(services([{ ...SUFFIX, expression: 'value + ".other.example.com"' }]).tenant)
    simulation.settle()
    expect([annotation(simulation, 'virtual'), annotation(simulation, 'host')]).toEqual([
      'web',
      'web.other.example.com',
    ])
    simulation.configure(TENANT)
    simulation.settle()
    expect([annotation(simulation, 'virtual'), annotation(simulation, 'host')]).toEqual(['web', 'web'])
    simulation.change('host', simulation.hostRef(WEB), { metadata: { annotations: { 'dns/host': 'theirs' } } })
    simulation.settle()
    expect(annotation(simulation, 'virtual')).toBe('theirs')
  })

  test('without an inverse is the tenant’s alone', () => {
    const simulation = services([{ path: 'metadata.labels.team', expression: '"tenant-" + value' }])
    const label = (side: 'virtual' | 'host') =>
      simulation.get(side, side === 'virtual' ? WEB : simulation.hostRef(WEB))?.metadata.labels?.team
    simulation.put('virtual', 'services', service({ labels: { team: 'a' } }))
    simulation.settle()
    simulation.change('host', simulation.hostRef(WEB), { metadata: { labels: { team: 'other' } } })
    simulation.settle()
    expect([label('virtual'), label('host')]).toEqual(['a', 'tenant-a'])
    simulation.change('virtual', WEB, { metadata: { labels: { team: null } } })
    simulation.settle()
    expect([label('virtual'), label('host')]).toEqual([undefined, undefined])
    simulation.change('host', simulation.hostRef(WEB), { metadata: { labels: { team: 'other' } } })
    simulation.settle()
    expect(label('virtual')).toBeUndefined()
  })
})

describe('a pair of expressions that play a value to one another', () => {
  const GROWING: PatchText = { ...SUFFIX, expression: 'value + "a"', reverseExpression: 'value' }

  test('is reported before a single round, and nothing grows', () => {
    const simulation = services([GROWING])
    simulation.put('virtual', 'services', service({ annotations: { 'dns/host': 'v' } }))
    expect(simulation.settle()).toBeLessThan(4)
    expect([annotation(simulation, 'virtual'), annotation(simulation, 'host')]).toEqual(['v', 'va'])
    expect(simulation.decide(WEB)).toEqual([
      { kind: 'reject', reason: 'PatchLoop', message: expect.stringContaining('metadata.annotations["dns/host"]') },
    ])
  })

  test('stops after one round where the host changes each value that it is given', () => {
    const simulation = services([{ ...SUFFIX, expression: 'value + "a"', reverseExpression: 'value.trimSuffix("a")' }])
    simulation.put('virtual', 'services', service({ annotations: { 'dns/host': 'v' } }))
    simulation.settle()
    let writes = 0
    for (let round = 0; round < 50; round++) {
      const now = annotation(simulation, 'host') ?? ''
      if (!now.endsWith('!'))
        simulation.change('host', simulation.hostRef(WEB), { metadata: { annotations: { 'dns/host': `${now}!` } } })
      const decisions = simulation.decide(WEB).filter(({ kind }) => kind === 'write')
      writes += decisions.length
      simulation.settle()
    }
    expect(writes).toBeLessThanOrEqual(1)
    expect([annotation(simulation, 'virtual'), annotation(simulation, 'host')]).toEqual(['v', 'va!'])
    expect(simulation.decide(WEB)).toEqual([expect.objectContaining({ kind: 'reject', reason: 'PatchLoop' })])
    simulation.change('virtual', WEB, { metadata: { annotations: { 'dns/host': 'w' } } })
    simulation.settle()
    expect(annotation(simulation, 'host')).toBe('wa')
  })

  test('is cured by another configuration', () => {
    const simulation = services([GROWING])
    simulation.put('virtual', 'services', service({ annotations: { 'dns/host': 'v' } }))
    simulation.settle()
    const cured = services([{ ...GROWING, reverseExpression: 'value.trimSuffix("a")' }])
    cured.put('virtual', 'services', simulation.get('virtual', WEB) as KubeObject)
    cured.put('host', 'services', simulation.get('host', simulation.hostRef(WEB)) as KubeObject)
    expect(cured.decide(WEB)).toEqual([])
  })

  test('never leads to more than one write back and one forth, whatever the two are', () => {
    const forward = fc.constantFrom(
      'value',
      'value + "a"',
      '"a" + value',
      '"x"',
      'value.upperAscii()',
      'value.substring(1)',
      'value == "v" ? "w" : "v"',
      'null',
    )
    const values = fc.constantFrom('v', 'va', 'V', '', 'x', 'longer-value')
    fc.assert(
      fc.property(forward, forward, values, values, (expression, reverseExpression, mine, theirs) => {
        const simulation = services([{ ...SUFFIX, expression, reverseExpression }])
        simulation.put('virtual', 'services', service({ annotations: { 'dns/host': mine } }))
        simulation.settle(5)
        // An expression that cannot be computed keeps the object from crossing.
        fc.pre(simulation.get('host', simulation.hostRef(WEB)) !== undefined)
        simulation.change('host', simulation.hostRef(WEB), { metadata: { annotations: { 'dns/host': theirs } } })
        simulation.settle(5)
        expect(simulation.decide(WEB).filter(({ kind }) => kind === 'write')).toEqual([])
      }),
      { numRuns: 300 },
    )
  })
})

describe('fields of one side', () => {
  test('a list of texts is patched item by item, and follows the tenant', () => {
    const simulation = services([{ path: 'spec.externalIPs[*]', expression: '"10." + value' }])
    const ips = () => asObject(simulation.get('host', simulation.hostRef(WEB))?.spec)?.externalIPs
    simulation.put('virtual', 'services', service({}, { externalIPs: ['1.1.1', '2.2.2'] }))
    simulation.settle()
    expect(ips()).toEqual(['10.1.1.1', '10.2.2.2'])
    simulation.change('virtual', WEB, { spec: { externalIPs: ['2.2.2'] } })
    simulation.settle()
    expect(ips()).toEqual(['10.2.2.2'])
    simulation.change('host', simulation.hostRef(WEB), { spec: { externalIPs: ['9.9.9.9'] } })
    simulation.settle()
    expect(ips()).toEqual(['10.2.2.2'])
    expect(simulation.decide(WEB)).toEqual([])
  })

  test('a patch that comes later reaches copies that are there', () => {
    const before = new Simulation(TENANT)
    before.put('virtual', 'services', service({}, { externalName: 'db', type: 'ExternalName' }))
    before.settle()
    const simulation = services([{ path: 'spec.externalName', expression: 'value + ".example.com"' }])
    simulation.put('virtual', 'services', before.get('virtual', WEB) as KubeObject)
    simulation.put('host', 'services', before.get('host', before.hostRef(WEB)) as KubeObject)
    simulation.settle()
    expect(simulation.get('host', simulation.hostRef(WEB))?.spec).toMatchObject({ externalName: 'db.example.com' })
    expect(simulation.decide(WEB)).toEqual([])
  })

  test('the status comes back through the inverse', () => {
    const simulation = services([
      { path: 'status.loadBalancer.ingress[*].hostname', reverseExpression: 'value.replace("internal", "public")' },
    ])
    simulation.put('virtual', 'services', service({}, { type: 'LoadBalancer' }))
    simulation.settle()
    simulation.change('host', simulation.hostRef(WEB), {
      status: { loadBalancer: { ingress: [{ hostname: 'lb.internal' }] } },
    })
    simulation.settle()
    expect(simulation.get('virtual', WEB)?.status).toEqual({ loadBalancer: { ingress: [{ hostname: 'lb.public' }] } })
    expect(simulation.decide(WEB)).toEqual([])
  })

  test('an image is patched on the copy and when the tenant changes it', () => {
    const simulation = new Simulation(
      tenantWith({
        toHost: {
          pods: { patches: [{ path: 'spec.containers[*].image', expression: '"mirror.example.com/" + value' }] },
        },
      }),
    )
    const ref = { resource: 'pods', namespace: 'default', name: 'web' }
    const images = () =>
      objectsIn(asObject(simulation.get('host', simulation.hostRef(ref))?.spec)?.containers).map(({ image }) => image)
    simulation.put(
      'virtual',
      'pods',
      podOf('web', {
        spec: {
          containers: [
            { name: 'a', image: 'x:1' },
            { name: 'b', image: 'y:1' },
          ],
        },
      }),
    )
    simulation.settle()
    expect(images()).toEqual(['mirror.example.com/x:1', 'mirror.example.com/y:1'])
    simulation.change('virtual', ref, {
      spec: {
        containers: [
          { name: 'a', image: 'x:1' },
          { name: 'b', image: 'y:2' },
        ],
      },
    })
    simulation.settle()
    expect(images()).toEqual(['mirror.example.com/x:1', 'mirror.example.com/y:2'])
    expect(simulation.decide(ref)).toEqual([])
  })

  test('a value that cannot be computed keeps the object from crossing, and is told with path and expression', () => {
    const simulation = services([{ path: 'spec.externalName', expression: 'value.split(".")[5]' }])
    simulation.put('virtual', 'services', service({}, { externalName: 'db', type: 'ExternalName' }))
    expect(simulation.decide(WEB)).toEqual([
      {
        kind: 'reject',
        reason: 'Unsupported',
        message: expect.stringMatching(/^patch of spec\.externalName: value\.split\("\."\)\[5\]: /),
      },
    ])
  })

  test('nothing is done where the path is not there', () => {
    const simulation = services([{ path: 'spec.rules[0].host', expression: '"x"' }, SUFFIX])
    simulation.put('virtual', 'services', service({}))
    simulation.settle()
    expect(simulation.get('host', simulation.hostRef(WEB))?.spec).toMatchObject({ type: 'ClusterIP' })
    expect(simulation.decide(WEB)).toEqual([])
  })
})

describe('references and labels', () => {
  test('a referenced Secret crosses under the name that the copy has for it', () => {
    const tenant = tenantWith({
      toHost: {
        services: {
          patches: [{ path: 'metadata.annotations["lb/cert"]', reference: { apiVersion: 'v1', kind: 'Secret' } }],
        },
      },
    })
    const simulation = new Simulation(tenant)
    const secret = { resource: 'secrets', namespace: 'default', name: 'cert' }
    simulation.put('virtual', 'secrets', objectOf('Secret', 'cert', { data: { 'tls.crt': 'eA==' } }))
    simulation.put('virtual', 'services', service({ annotations: { 'lb/cert': 'cert' } }))
    simulation.settle()
    expect(simulation.get('host', simulation.hostRef(secret))).toBeDefined()
    expect(annotation(simulation, 'host', 'lb/cert')).toBe('cert-x-default-x-team-a')
    expect(annotation(simulation, 'virtual', 'lb/cert')).toBe('cert')
    simulation.remove('virtual', WEB)
    simulation.settle()
    expect(simulation.get('host', simulation.hostRef(secret))).toBeUndefined()
  })

  test('custom resources are patched as any other kind, and keep what they refer to', () => {
    const resource = 'certificates.cert-manager.io'
    const patches = [
      { path: 'spec.dnsNames[*]', expression: 'value + ".example.com"' },
      { path: 'spec.issuer', reference: { apiVersion: 'v1', kind: 'Secret', namePath: 'name' } },
    ]
    const simulation = new Simulation(
      tenantWith({ toHost: { customResources: { [resource]: { enabled: true, patches } } } }),
    )
    simulation.put('host', 'customresourcedefinitions.apiextensions.k8s.io', {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: resource },
      spec: {
        group: 'cert-manager.io',
        scope: 'Namespaced',
        names: { plural: 'certificates', kind: 'Certificate' },
        versions: [{ name: 'v1', served: true, storage: true }],
      },
      status: { conditions: [{ type: 'Established', status: 'True' }] },
    })
    const ref = { resource, namespace: 'default', name: 'web' }
    const secret = { resource: 'secrets', namespace: 'default', name: 'ca' }
    simulation.put('virtual', 'secrets', objectOf('Secret', 'ca', { data: {} }))
    const spec = { dnsNames: ['web', 'shop'], issuer: { name: 'ca' } }
    simulation.put('virtual', resource, {
      ...objectOf('Certificate', 'web', { spec }),
      apiVersion: 'cert-manager.io/v1',
    })
    simulation.settle()
    expect(simulation.get('host', simulation.hostRef(ref))?.spec).toEqual({
      dnsNames: ['web.example.com', 'shop.example.com'],
      issuer: { name: 'ca-x-default-x-team-a' },
    })
    expect(simulation.get('host', simulation.hostRef(secret))).toBeDefined()
    simulation.change('virtual', ref, { spec: { dnsNames: ['shop'] } })
    simulation.settle()
    expect(simulation.get('host', simulation.hostRef(ref))?.spec).toMatchObject({ dnsNames: ['shop.example.com'] })
    expect(simulation.decide(ref)).toEqual([])
  })

  test.each<[string, JsonObject, JsonObject]>([
    [
      'a selector of its own form',
      { matchLabels: { app: 'a' } },
      { matchLabels: { app: 'a', 'causeway.dev/namespace': 'default', 'causeway.dev/tenant': 'team-a' } },
    ],
    ['an empty one', {}, { matchLabels: { 'causeway.dev/namespace': 'default', 'causeway.dev/tenant': 'team-a' } }],
    ['a set', { app: 'a' }, { app: 'a', 'causeway.dev/namespace': 'default', 'causeway.dev/tenant': 'team-a' }],
  ])('labels are confined to the tenant: %s', (_title, labels, expected) => {
    const simulation = services([{ path: 'spec.targets', labels: {} }])
    simulation.put('virtual', 'services', service({}, { targets: labels }))
    simulation.settle()
    expect(simulation.get('host', simulation.hostRef(WEB))?.spec).toMatchObject({ targets: expected })
    simulation.change('virtual', WEB, { spec: { targets: { extra: 'x' } } })
    simulation.settle()
    expect(simulation.decide(WEB)).toEqual([])
    expect(simulation.get('virtual', WEB)?.spec).toMatchObject({ targets: { ...labels, extra: 'x' } })
  })
})

describe('what the host shows', () => {
  test('is patched on its way to the tenant', () => {
    const tenant = tenantWith({
      fromHost: {
        ingressClasses: {
          enabled: true,
          patches: [{ path: 'metadata.annotations.team', expression: 'context.tenant + "/" + value' }],
        },
      },
    })
    const simulation = new Simulation(tenant)
    const ref = { resource: 'ingressclasses.networking.k8s.io', namespace: '', name: 'nginx' }
    const original = {
      apiVersion: 'networking.k8s.io/v1',
      kind: 'IngressClass',
      metadata: { name: 'nginx', annotations: { team: 'infra' } },
      spec: { controller: 'x/y' },
    }
    simulation.put('host', ref.resource, original)
    simulation.settle()
    expect(simulation.get('virtual', ref)?.metadata.annotations?.team).toBe('team-a/infra')
    expect(simulation.decide(ref)).toEqual([])
  })
})

describe('the examples of the documentation are inverse to one another', () => {
  const EXAMPLES: [string, string][] = [
    ['value + ".tenants.example.com"', 'value.trimSuffix(".tenants.example.com")'],
    ['"tenant-" + value', 'value.trimPrefix("tenant-")'],
    ['context.tenant + "/" + value', 'value.trimPrefix(context.tenant + "/")'],
    ['value + 1000', 'value - 1000'],
    ['value.split("").join("-")', 'value.split("-").join("")'],
  ]
  test.each(EXAMPLES)('%s and %s', (expression, reverseExpression) => {
    const isNumber = expression.includes('1000')
    const text = fc.stringMatching(/^[a-z][a-z0-9.]{0,20}$/)
    fc.assert(
      fc.property(isNumber ? fc.integer({ min: 0, max: 60_000 }) : text, (value) => {
        const simulation = services([{ path: 'spec.some', expression, reverseExpression }])
        simulation.put('virtual', 'services', service({}, { some: value }))
        simulation.settle()
        expect(simulation.decide(WEB)).toEqual([])
        expect(simulation.get('virtual', WEB)?.spec).toMatchObject({ some: value })
      }),
      { numRuns: 30 },
    )
  })
})

describe('a configuration is refused', () => {
  test.each<[string, PatchText, string]>([
    ['for a path that is none', { path: 'spec..host', expression: 'value' }, 'write it like spec.dnsNames[*]'],
    ['for the name', { path: 'metadata.name', expression: 'value' }, 'only labels and annotations'],
    ['for the namespace', { path: 'metadata.namespace', expression: 'value' }, 'only labels and annotations'],
    ['for the uid', { path: 'metadata["uid"]', expression: 'value' }, 'only labels and annotations'],
    ['for all labels at once', { path: 'metadata.labels', expression: '{"a": "b"}' }, 'must name one key'],
    ['for our stamps', { path: 'metadata.labels["causeway.dev/tenant"]', expression: '"b"' }, 'keeps objects apart'],
    ['for a selector', { path: 'spec.selector.app', expression: '"b"' }, 'use labels: {}'],
    [
      'for a selector within',
      { path: 'spec.affinity.x[*].labelSelector.matchLabels', expression: '{}' },
      'use labels: {}',
    ],
    ['for the kind', { path: 'kind', expression: '"Pod"' }, 'says what the object is'],
    ['for an expression in JavaScript', { path: 'spec.a', expression: 'value.slice(1)' }, 'CEL, not JavaScript'],
    [
      'for an inverse that cannot be read',
      { path: 'spec.a', expression: 'value', reverseExpression: 'value +' },
      'reverseExpression of "spec.a" cannot be read',
    ],
    [
      'for a reference to what does not cross',
      { path: 'spec.a', reference: { apiVersion: 'v1', kind: 'Nothing' } },
      'no kind that crosses',
    ],
  ])('%s', (_title, patch, expected) => {
    const { problems } = parseTenantConfig({ sync: { toHost: { services: { patches: [patch] } } } }, { checkPatch })
    expect(problems).toEqual([{ path: 'sync.toHost.services.patches[0]', message: expect.stringContaining(expected) }])
  })

  test('and an expression cannot reach what confines the object to the tenant by a path above it', () => {
    const simulation = services([{ path: 'spec', expression: '{"ports": value.ports}' }])
    simulation.put('virtual', 'services', service({}, { selector: { app: 'web' } }))
    expect(simulation.decide(WEB)).toEqual([
      { kind: 'reject', reason: 'Unsupported', message: expect.stringContaining('confines it to the tenant') },
    ])
  })

  test('and no result carries our stamps', () => {
    const simulation = services([{ path: 'spec.some', expression: '{"causeway.dev/tenant": "other"}' }])
    simulation.put('virtual', 'services', service({}, { some: 'x' }))
    expect(simulation.decide(WEB)).toEqual([expect.objectContaining({ kind: 'reject', reason: 'Unsupported' })])
  })
})
