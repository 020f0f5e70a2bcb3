import { expect, test } from 'vitest'
import type { Write } from '#libs/events'
import type { JsonObject, ObjectKey } from '#libs/kube-model'
import { parseTenantConfig } from '#libs/sync-config'
import { refusal } from './guard.ts'

const hostNamespace = 'tenant-team-a'
const SOURCE = { resource: 'widgets.example.com', namespace: 'default', name: 'one' }
const config = parseTenantConfig({
  sync: {
    toHost: {
      customResources: {
        'widgets.example.com': { enabled: true },
        'tiers.example.com': { enabled: true, scope: 'Cluster' },
        'off.example.com': { enabled: false },
      },
    },
    fromHost: { customResources: { 'gadgets.example.com': { enabled: true, scope: 'Cluster' } } },
  },
}).config

const host = (resource: string, namespace = hostNamespace): ObjectKey => ({
  tenant: 'team-a',
  side: 'host',
  resource,
  namespace,
  name: 'one',
})
const virtual = (resource: string, name = 'one'): ObjectKey => ({
  tenant: 'team-a',
  side: 'virtual',
  resource,
  namespace: '',
  name,
})

const create = ({ namespace, name }: ObjectKey): Write => ({
  op: 'create',
  body: {
    apiVersion: 'example.com/v1',
    kind: 'Any',
    metadata: { name, ...(namespace === '' ? {} : { namespace }), labels: { 'causeway.dev/tenant': 'team-a' } },
  },
})
const patch = (): Write => ({ op: 'patch', patchType: 'merge', body: { spec: {} } as JsonObject, uid: 'u' })
const remove = (): Write => ({ op: 'delete', uid: 'u', proof: { kind: 'tombstone', seq: 1 } })

test.each<{ what: string; target: ObjectKey; write: (target: ObjectKey) => Write; isLet: boolean }>([
  { what: 'a copy of a configured kind', target: host('widgets.example.com'), write: create, isLet: true },
  { what: 'a copy in another namespace', target: host('widgets.example.com', 'other'), write: create, isLet: false },
  { what: 'a copy without namespace', target: host('widgets.example.com', ''), write: create, isLet: false },
  { what: 'one that is configured to have none', target: host('tiers.example.com', ''), write: create, isLet: true },
  { what: 'one that is not configured', target: host('other.example.com'), write: create, isLet: false },
  { what: 'one that is switched off', target: host('off.example.com'), write: create, isLet: false },
  { what: 'the end of one that is switched off', target: host('off.example.com'), write: remove, isLet: true },
  { what: 'the end of one that is named no more', target: host('gone.example.com'), write: remove, isLet: true },
  { what: 'its end in another namespace', target: host('gone.example.com', 'other'), write: remove, isLet: false },
  { what: 'its end without namespace', target: host('gone.example.com', ''), write: remove, isLet: false },
  { what: 'a host object that tenants see', target: host('gadgets.example.com'), write: patch, isLet: false },
  { what: 'what the tenant sees of it', target: virtual('gadgets.example.com'), write: create, isLet: true },
  { what: 'the end of what the tenant sees', target: virtual('gadgets.example.com'), write: remove, isLet: true },
  { what: 'what comes back to an original', target: virtual('widgets.example.com'), write: patch, isLet: true },
  { what: 'the end of an original', target: virtual('widgets.example.com'), write: remove, isLet: false },
  {
    what: 'a definition in the tenant',
    target: virtual('customresourcedefinitions.apiextensions.k8s.io', 'widgets.example.com'),
    write: create,
    isLet: true,
  },
  {
    what: 'a definition that is not configured',
    target: virtual('customresourcedefinitions.apiextensions.k8s.io', 'other.example.com'),
    write: create,
    isLet: false,
  },
  {
    what: 'the end of a definition',
    target: virtual('customresourcedefinitions.apiextensions.k8s.io', 'widgets.example.com'),
    write: remove,
    isLet: false,
  },
  {
    what: 'a definition on the host',
    target: host('customresourcedefinitions.apiextensions.k8s.io', ''),
    write: create,
    isLet: false,
  },
])('the guard on $what: let through $isLet', ({ target, write, isLet }) => {
  expect(config).toBeDefined()
  const refused = refusal(
    { target, write: write(target), source: SOURCE },
    { name: 'team-a', hostNamespace, ...(config === undefined ? {} : { config }) },
  )
  expect(refused === undefined).toBe(isLet)
})

test('without a configuration no custom resource is written', () => {
  const target = host('widgets.example.com')
  expect(refusal({ target, write: create(target), source: SOURCE }, { name: 'team-a', hostNamespace })?.reason).toBe(
    'OutsideTenant',
  )
})

test('a copy without namespace goes also where its kind is named no more, since its original had none either', () => {
  const target = host('gone.example.com', '')
  const tenant = { name: 'team-a', hostNamespace, ...(config === undefined ? {} : { config }) }
  const source = { resource: 'gone.example.com', namespace: '', name: 'one' }
  const counterpart = { ...virtual('gone.example.com') }
  const ends: Write[] = [remove(), { op: 'delete', uid: 'u', proof: { kind: 'confirm-absent', counterpart } }]
  for (const write of ends) expect(refusal({ target, write, source }, tenant)).toBeUndefined()
  for (const write of [create(target), patch()]) expect(refusal({ target, write, source }, tenant)).toBeDefined()
  const inside = host('gone.example.com')
  expect(refusal({ target: inside, write: remove(), source }, tenant)).toBeDefined()
})
