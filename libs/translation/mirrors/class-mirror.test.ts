import { describe, expect, test } from 'vitest'
import type { JsonObject, KubeObject } from '#libs/kube-model'
import { type TenantConfig, parseTenantConfig } from '#libs/sync-config'
import type { Decision } from '../decision.ts'
import { MIRRORS, decideFor } from '../registry.ts'
import { applyPatch } from '../testing/apply-patch.ts'
import { TENANT, deepFreeze, memoryRelated } from '../testing/index.ts'
import type { View } from '../view.ts'

const RESOURCE = 'ingressclasses.networking.k8s.io'
const key = { resource: RESOURCE, namespace: '', name: 'nginx' }

const hostClass: KubeObject = {
  apiVersion: 'networking.k8s.io/v1',
  kind: 'IngressClass',
  metadata: {
    name: 'nginx',
    uid: 'host-uid',
    resourceVersion: '7',
    labels: { tier: 'gold', 'causeway.dev/tenant': 'of-an-outer-one' },
    annotations: { 'ingressclass.kubernetes.io/is-default-class': 'true' },
    ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'operator', uid: 'o' }],
    finalizers: ['hosts/own'],
  },
  spec: { controller: 'k8s.io/ingress-nginx', parameters: { kind: 'ConfigMap', name: 'p' } },
}

function configOf(fromHost: JsonObject): TenantConfig {
  const parsed = parseTenantConfig({ sync: { fromHost } })
  if (parsed.config === undefined) throw new Error(JSON.stringify(parsed))
  return parsed.config
}

const ON = configOf({ ingressClasses: { enabled: true } })

function viewOf(states: Partial<View> & { config?: TenantConfig; synced?: boolean }): View {
  const { config = ON, synced = true, ...rest } = states
  return deepFreeze({
    tenant: { ...TENANT, config },
    key,
    virtual: { seq: 0 },
    host: { object: hostClass, seq: 20 },
    related: memoryRelated({ synced }),
    waitedMs: 0,
    ...rest,
  })
}

function only(decisions: Decision[]): Extract<Decision, { kind: 'write' }> {
  const [first] = decisions
  if (decisions.length !== 1 || first?.kind !== 'write') throw new Error(JSON.stringify(decisions))
  return first
}

/** The copy as the tenant's API holds it once it is made. */
function copied(): { object: KubeObject; base: JsonObject } {
  const { write, base } = only(decideFor(viewOf({})))
  if (write.op !== 'create') throw new Error('not created')
  return { object: { ...write.body, metadata: { ...write.body.metadata, uid: 'copy-uid' } }, base: base ?? {} }
}

const changed = (object: KubeObject, patch: JsonObject): KubeObject =>
  applyPatch(object as JsonObject, patch, false) as KubeObject

describe('a class of the host', () => {
  test('is copied whole, without what is the business of the cluster that it is in', () => {
    expect(only(decideFor(viewOf({})))).toMatchObject({
      rule: 'mirror',
      target: { side: 'virtual', ...key },
      write: {
        op: 'create',
        body: {
          apiVersion: 'networking.k8s.io/v1',
          kind: 'IngressClass',
          metadata: {
            name: 'nginx',
            labels: { tier: 'gold', 'causeway.dev/mirror': 'true' },
            annotations: { 'ingressclass.kubernetes.io/is-default-class': 'true' },
          },
          spec: hostClass.spec,
        },
      },
    })
    expect(copied().object.metadata).not.toHaveProperty('ownerReferences')
    expect(copied().object.metadata).not.toHaveProperty('finalizers')
    expect(copied().object.metadata.labels).not.toHaveProperty('causeway.dev/tenant')
  })

  test('says nothing once the copy is there, whatever the tenant’s API fills in', () => {
    const { object, base } = copied()
    expect(decideFor(viewOf({ virtual: { object, seq: 10 }, base }))).toEqual([])
    const defaulted = changed(object, { spec: { parameters: { scope: 'Cluster' }, since130: 'Default' } })
    expect(decideFor(viewOf({ virtual: { object: defaulted, seq: 10 }, base }))).toEqual([])
  })

  test.each<[string, JsonObject, JsonObject]>([
    ['a label', { metadata: { labels: { tier: 'silver' } } }, { metadata: { labels: { tier: 'silver' } } }],
    ['a label that goes', { metadata: { labels: { tier: null } } }, { metadata: { labels: { tier: null } } }],
    [
      'an annotation that goes',
      { metadata: { annotations: null } },
      { metadata: { annotations: { 'ingressclass.kubernetes.io/is-default-class': null } } },
    ],
    [
      'a field',
      { spec: { parameters: { name: 'q', kind: null } } },
      { spec: { parameters: { name: 'q', kind: null } } },
    ],
    ['a field that goes', { spec: { parameters: null } }, { spec: { parameters: null } }],
  ])('follows %s', (_title, change, body) => {
    const { object, base } = copied()
    const host = { object: changed(hostClass, change), seq: 21 }
    const decision = only(decideFor(viewOf({ virtual: { object, seq: 10 }, host, base })))
    expect(decision).toMatchObject({ rule: 'mirror', write: { op: 'patch', uid: 'copy-uid' } })
    expect(decision.write).toHaveProperty('body', body)
  })

  test.each<[string, JsonObject]>([
    ['fields', { spec: { parameters: { name: 'mine' } } }],
    ['labels', { metadata: { labels: { tier: 'mine', added: 'too' } } }],
    ['annotations', { metadata: { annotations: { added: 'x' } } }],
  ])('takes back what the tenant changes of %s', (_title, change) => {
    const { object, base } = copied()
    const decision = only(decideFor(viewOf({ virtual: { object: changed(object, change), seq: 10 }, base })))
    if (decision.write.op !== 'patch' || Array.isArray(decision.write.body)) throw new Error('no patch')
    expect(changed(changed(object, change), decision.write.body)).toEqual(object)
  })

  test('is made anew where a field differs that cannot be changed', () => {
    const { object, base } = copied()
    const host = { object: changed(hostClass, { spec: { controller: 'other' } }), seq: 21 }
    expect(only(decideFor(viewOf({ virtual: { object, seq: 10 }, host, base })))).toMatchObject({
      rule: 'replace',
      write: { op: 'delete', uid: 'copy-uid', proof: { kind: 'state', seq: 21 } },
    })
  })

  test('is not shown where the selector does not match, and goes where it no longer does', () => {
    const config = configOf({ ingressClasses: { enabled: true, selector: { matchLabels: { tier: 'iron' } } } })
    expect(decideFor(viewOf({ config }))).toEqual([])
    const { object, base } = copied()
    expect(only(decideFor(viewOf({ config, virtual: { object, seq: 10 }, base })))).toMatchObject({
      rule: 'unselected',
      write: { op: 'delete', proof: { kind: 'state', seq: 20 } },
    })
  })

  test('goes once the kind is switched off', () => {
    const { object } = copied()
    const view = { config: configOf({}), virtual: { object, seq: 10 } }
    expect(only(decideFor(viewOf(view)))).toMatchObject({
      rule: 'disabled',
      write: { op: 'delete', uid: 'copy-uid', proof: { kind: 'state', seq: 10 } },
    })
    expect(decideFor(viewOf({ config: configOf({}) }))).toEqual([])
  })

  test('goes on the word of a tombstone, or after a live read where the host never showed it', () => {
    const virtual = { object: copied().object, seq: 10 }
    const gone = { uid: 'host-uid', seq: 30 }
    expect(only(decideFor(viewOf({ virtual, host: { gone, seq: 30 } })))).toMatchObject({
      rule: 'mirrorGone',
      write: { op: 'delete', proof: { kind: 'tombstone', seq: 30 } },
    })
    expect(decideFor(viewOf({ virtual, host: { seq: 0 }, synced: false }))).toEqual([])
    expect(only(decideFor(viewOf({ virtual, host: { seq: 0 } })))).toMatchObject({
      rule: 'mirrorGone',
      write: { proof: { kind: 'confirm-absent', counterpart: { tenant: TENANT.name, side: 'host', ...key } } },
    })
  })

  test('leaves an object of the same name alone that the tenant made itself', () => {
    const { labels: _labels, ...metadata } = copied().object.metadata
    const object = { ...copied().object, metadata, spec: { controller: 'mine' } }
    const gone = { uid: 'host-uid', seq: 30 }
    for (const view of [{}, { config: configOf({}) }, { host: { gone, seq: 30 } }]) {
      expect(decideFor(viewOf({ virtual: { object, seq: 10 }, ...view }))).toEqual([])
    }
  })

  test('waits for a copy that is going', () => {
    const object = changed(copied().object, { metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } })
    expect(decideFor(viewOf({ virtual: { object, seq: 10 } }))).toEqual([])
  })
})

describe('what is particular to a kind', () => {
  test('a GatewayClass keeps its parameters to itself and shows its status', () => {
    const resource = 'gatewayclasses.gateway.networking.k8s.io'
    const status = { conditions: [{ type: 'Accepted', status: 'True' }] }
    const spec = { controllerName: 'example.com/gw', parametersRef: { kind: 'Secretive', name: 'x' } }
    const host = { object: { metadata: { name: 'gw' }, spec, status } as KubeObject, seq: 20 }
    const view = viewOf({
      config: configOf({ gatewayClasses: { enabled: true } }),
      key: { resource, namespace: '', name: 'gw' },
      host,
    })
    const { write, base } = only(decideFor(view))
    expect(write).toHaveProperty('body.spec', { controllerName: 'example.com/gw' })
    expect(write).not.toHaveProperty('body.status')
    if (write.op !== 'create' || base === undefined) throw new Error('not created')
    const virtual = { object: { ...write.body, metadata: { ...write.body.metadata, uid: 'u' } }, seq: 10 }
    const shown = only(decideFor({ ...view, virtual, base }))
    expect(shown).toMatchObject({
      rule: 'statusBack',
      write: { op: 'patch', subresource: 'status', body: { status } },
    })
    // A gateway controller of the tenant's own may say otherwise: that stays until the host says something else.
    const theirs = { conditions: [{ type: 'Accepted', status: 'False' }] }
    const after = {
      virtual: { ...virtual, object: { ...virtual.object, status: theirs } },
      ...(shown.base === undefined ? {} : { base: shown.base }),
    }
    expect(decideFor({ ...view, ...after })).toEqual([])
    const next = { conditions: [{ type: 'Accepted', status: 'Unknown' }] }
    expect(decideFor({ ...view, ...after, host: { ...host, object: { ...host.object, status: next } } })).toMatchObject(
      [{ rule: 'statusBack', write: { body: { status: next } } }],
    )
  })

  test('a CSINode is shown for a node that the tenant sees, and goes with it', () => {
    const resource = 'csinodes.storage.k8s.io'
    const node = { resource: 'nodes', namespace: '', name: 'n1' }
    const object: KubeObject = { metadata: { name: 'n1' }, spec: { drivers: [] } }
    const view = viewOf({
      config: configOf({ csiNodes: { enabled: true } }),
      key: { ...node, resource },
      host: { object, seq: 20 },
    })
    expect(decideFor(view)).toEqual([])
    const related = memoryRelated({ virtual: [{ ref: node, object: { metadata: { name: 'n1' } } }] })
    const { write } = only(decideFor({ ...view, related }))
    if (write.op !== 'create') throw new Error('not created')
    const virtual = { object: write.body, seq: 10 }
    expect(only(decideFor({ ...view, virtual }))).toMatchObject({ rule: 'mirrorUnused', write: { op: 'delete' } })
  })

  test('every mirrored kind is written in the tenant only', () => {
    for (const { virtualWrites } of Object.values(MIRRORS)) expect(virtualWrites).not.toContain('replace')
  })
})
