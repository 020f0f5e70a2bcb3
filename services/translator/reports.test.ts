import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createManualClock } from '#libs/kube/testing'
import type { JsonObject, KubeObject, ObjectKey } from '#libs/kube-model'
import { Projection } from '#libs/projection'
import { LogOfChanges } from '#libs/projection/testing'
import { parseTenantConfig } from '#libs/sync-config'
import { decideFor, hostName, hostRefOf, kindFor } from '#libs/translation'
import { TENANT, memoryRelated, podOf } from '#libs/translation/testing'
import { createVault } from '#libs/vault'
import { causeOf } from './batch.ts'
import { Reports } from './reports.ts'

const original = podOf('web', { metadata: { uid: 'v1' } })
const copyName = hostName({ namespace: 'default', name: 'web' }, TENANT.name)
const podKey: ObjectKey = { tenant: TENANT.name, side: 'virtual', resource: 'pods', namespace: 'default', name: 'web' }
const copyKey: ObjectKey = { ...podKey, side: 'host', namespace: TENANT.hostNamespace, name: copyName }

let folder: string
let projection: Projection
let log: LogOfChanges
let tenant = TENANT
const clock = createManualClock()
let reports: Reports

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'causeway-reports-'))
  const vault = createVault({ active: 'k1', keys: new Map([['k1', Buffer.alloc(32, 7)]]) })
  projection = new Projection({ path: join(folder, 'p.sqlite'), vault, hostNamespaceOf: () => TENANT.hostNamespace })
  projection.bindTenant(TENANT.name, 't1')
  log = new LogOfChanges()
  tenant = TENANT
  reports = new Reports({ projection, fence: 1, clock, tenant: () => tenant })
  projection.fold(log.change('ADDED', podKey, original))
})

afterEach(() => {
  projection.close()
  rmSync(folder, { recursive: true })
})

function copyOf(): KubeObject {
  const made = kindFor('pods')?.toHost({ virtual: original, tenant: TENANT, related: memoryRelated() })
  if (made?.kind !== 'object') throw new Error('no copy')
  return { ...made.object, metadata: { ...made.object.metadata, uid: 'h1' } }
}

function report(involved: JsonObject = {}, fields: JsonObject = {}, name = `${copyName}.1`) {
  const namespace = TENANT.hostNamespace
  const key: ObjectKey = { tenant: TENANT.name, side: 'host', resource: 'events', namespace, name }
  const involvedObject = { kind: 'Pod', namespace, name: copyName, uid: 'h1', ...involved }
  return log.change('ADDED', key, { metadata: { namespace, name }, involvedObject, reason: 'R', ...fields })
}

const taken = (change: ReturnType<typeof report>) => reports.take(change, causeOf(change))

test('the configuration’s patches hold for what is told, and what one cannot be computed for is not', () => {
  const patch = { path: 'message', expression: 'value + " (" + context.name + ")"' }
  const { config, problems } = parseTenantConfig({ sync: { fromHost: { events: { patches: [patch] } } } })
  if (config === undefined) throw new Error(JSON.stringify(problems))
  tenant = { ...TENANT, config }
  projection.fold(log.change('ADDED', copyKey, copyOf()))
  const [told] = taken(report({}, { message: 'pulled' }))
  expect(told?.write).toMatchObject({ op: 'announce', body: { message: 'pulled (web)' } })
  const odd = { path: 'message', expression: 'value * 2' }
  const other = parseTenantConfig({ sync: { fromHost: { events: { patches: [odd] } } } }).config
  tenant = { ...TENANT, config: other ?? TENANT.config }
  expect(taken(report({}, { message: 'pulled' }))).toEqual([])
})

test('what the host says of a copy is told about the tenant’s object, and none of it is stored', () => {
  projection.fold(log.change('ADDED', copyKey, copyOf()))
  const change = report()
  expect(Reports.covers(change)).toBe(true)
  expect(taken(change)).toMatchObject([
    {
      target: { tenant: TENANT.name, side: 'virtual', resource: 'events', namespace: 'default', name: 'web.1' },
      write: { op: 'announce', body: { involvedObject: { name: 'web', uid: 'v1' } } },
    },
  ])
})

describe('of custom resources', () => {
  const GADGETS = 'gadgets.example.com'
  const SITES = 'sites.example.com'
  const customResources = { [GADGETS]: { enabled: true }, [SITES]: { enabled: true, scope: 'Cluster' } }
  const { config = TENANT.config } = parseTenantConfig({ sync: { toHost: { customResources } } })

  beforeEach(() => {
    tenant = { ...TENANT, config }
    define('Gadget', GADGETS, 'Namespaced')
    define('Site', SITES, 'Cluster')
  })

  function define(kind: string, resource: string, scope: string): void {
    const [plural = '', ...group] = resource.split('.')
    const versions = [{ name: 'v1', served: true }]
    const spec = { group: group.join('.'), scope, names: { plural, kind }, versions }
    const status = { conditions: [{ type: 'Established', status: 'True' }] }
    const of = { resource: 'customresourcedefinitions.apiextensions.k8s.io', namespace: '', name: resource }
    projection.fold(
      log.change('ADDED', { tenant: '', side: 'host', ...of }, { metadata: { name: resource }, spec, status }),
    )
  }

  function cross(object: KubeObject, resource: string): ObjectKey {
    const { name = '', namespace = '' } = object.metadata
    const virtual: ObjectKey = { tenant: TENANT.name, side: 'virtual', resource, namespace, name }
    projection.fold(log.change('ADDED', virtual, object))
    const [made] = decideFor(projection.view(tenant, { resource, namespace, name }, 0))
    if (made?.kind !== 'write' || made.write.op !== 'create') throw new Error('no copy')
    const copy: KubeObject = { ...made.write.body, metadata: { ...made.write.body.metadata, uid: 'h2' } }
    const key: ObjectKey = { ...virtual, side: 'host', ...hostRefOf(virtual, tenant) }
    projection.fold(log.change('ADDED', key, copy))
    return key
  }

  const gadget: KubeObject = {
    apiVersion: 'example.com/v1',
    kind: 'Gadget',
    metadata: { namespace: 'default', name: 'fan', uid: 'v2' },
  }

  test('what the host says is told by the kind that their definition gives them', () => {
    const { name } = cross(gadget, GADGETS)
    const said = report({ kind: 'Gadget', apiVersion: 'example.com/v1', name, uid: 'h2' }, {}, `${name}.1`)
    expect(taken(said)).toMatchObject([
      {
        target: { namespace: 'default', name: 'fan.1' },
        write: {
          body: { involvedObject: { apiVersion: 'example.com/v1', kind: 'Gadget', name: 'fan', uid: 'v2' } },
        },
      },
    ])
    const other = report({ kind: 'Gadget', apiVersion: 'elsewhere.com/v1', name, uid: 'h2' })
    expect(taken(other)).toEqual([])
  })

  test('what it says of those without namespace is told in the default one', () => {
    const { name } = cross({ ...gadget, kind: 'Site', metadata: { name: 'fan', uid: 'v2' } }, SITES)
    const key: ObjectKey = { ...copyKey, resource: 'events', namespace: 'default', name: `${name}.1` }
    const about = { kind: 'Site', apiVersion: 'example.com/v1', name, uid: 'h2' }
    const said = (involvedObject: JsonObject) =>
      log.change('ADDED', key, { metadata: { namespace: 'default', name: `${name}.1` }, involvedObject })
    expect(taken(said(about))).toMatchObject([
      { target: { namespace: 'default', name: 'fan.1' }, write: { body: { involvedObject: { kind: 'Site' } } } },
    ])
    expect(taken(said({ ...about, namespace: 'kube-system' }))).toEqual([])
    expect(taken(said({ ...about, uid: 'another' }))).toEqual([])
  })
})

test('nodes that the tenant does not see are not named, and those that it sees are', () => {
  for (const name of ['worker-1', 'worker-2']) {
    const key = { tenant: '', side: 'host', resource: 'nodes', namespace: '', name } as const
    projection.fold(log.change('ADDED', key, { metadata: { name } }))
  }
  const seen = { tenant: TENANT.name, side: 'virtual', resource: 'nodes', namespace: '', name: 'worker-1' } as const
  projection.fold(log.change('ADDED', seen, { metadata: { name: 'worker-1' } }))
  projection.fold(log.change('ADDED', copyKey, copyOf()))
  const [told] = taken(report({}, { message: 'volume is on worker-2, not on worker-1' }))
  expect(told?.write).toMatchObject({ body: { message: 'volume is on (hidden), not on worker-1' } })
})

test('what is said before the copy is seen is told once it is, unless that takes too long', () => {
  expect(taken(report())).toEqual([])
  projection.fold(log.change('ADDED', copyKey, copyOf()))
  expect(reports.shown(copyKey)).toHaveLength(1)
  expect(reports.shown(copyKey)).toEqual([])

  const other = { ...copyKey, name: 'other' }
  expect(taken(report({ name: 'other' }))).toEqual([])
  clock.advance(60_000)
  expect(reports.shown(other)).toEqual([])
})

test.each<[string, JsonObject]>([
  ['an earlier copy of the same name', { uid: 'h0' }],
  ['a kind that does not cross', { kind: 'ReplicaSet' }],
  ['an object of another namespace', { namespace: 'kube-system' }],
])('what is said of %s is told to nobody', (_what, involved) => {
  projection.fold(log.change('ADDED', copyKey, copyOf()))
  expect(taken(report(involved))).toEqual([])
})

test('what is said of a copy that is gone, or without stamps, is told to nobody', () => {
  projection.fold(log.change('ADDED', copyKey, { metadata: { ...copyOf().metadata, annotations: {} } }))
  expect(taken(report())).toEqual([])
  projection.fold(log.change('DELETED', copyKey, copyOf()))
  expect(taken(report())).toEqual([])
})

test('a tenant that is not to be told is not', () => {
  projection.fold(log.change('ADDED', copyKey, copyOf()))
  const { config } = parseTenantConfig({ sync: { fromHost: { events: { enabled: false } } } })
  tenant = { ...TENANT, config: config ?? TENANT.config }
  expect(taken(report())).toEqual([])
})

test('a flood is bounded, and leaves room for warnings', () => {
  projection.fold(log.change('ADDED', copyKey, copyOf()))
  const told = Array.from({ length: 400 }, (_, at) => taken(report({}, {}, `${copyName}.${String(at)}`)).length)
  const count = told.reduce((sum, each) => sum + each, 0)
  expect(count).toBeGreaterThan(100)
  expect(count).toBeLessThan(300)
  expect(taken(report({}, { type: 'Warning' }, `${copyName}.warning`))).toHaveLength(1)
})
