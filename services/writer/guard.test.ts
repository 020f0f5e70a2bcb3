import { describe, expect, test } from 'vitest'
import type { Write } from '#libs/events'
import type { JsonObject, KubeObject, ObjectKey } from '#libs/kube-model'
import { parseTenantConfig } from '#libs/sync-config'
import type { TenantPlace } from '#libs/translation'
import { refusal } from './guard.ts'
import { HOST_NAMESPACE, TENANT, hostCopy, intentOf, writes } from './testing/intents.ts'

const tenant = { name: TENANT, hostNamespace: HOST_NAMESPACE }
const hostTarget = intentOf(writes.create()).target
const virtualTarget: ObjectKey = {
  tenant: TENANT,
  side: 'virtual',
  resource: 'pods',
  namespace: 'default',
  name: 'web',
}

const serviceTarget: ObjectKey = { ...virtualTarget, resource: 'services' }
const replacementOf = (
  metadata: Partial<KubeObject['metadata']>,
  more: Partial<Extract<Write, { op: 'replace' }>> = {},
): Write => ({
  op: 'replace',
  body: { apiVersion: 'v1', kind: 'Service', metadata: { name: 'web', namespace: 'default', ...metadata } },
  uid: 'u1',
  copy: { name: 'web-x-default-x-team-a', uid: 'h1' },
  ...more,
})

const source = { resource: 'pods', namespace: 'default', name: 'web' }
const check = (target: ObjectKey, write: Write): string | undefined =>
  refusal({ target, write, source }, tenant)?.reason

const copyWith = (metadata: Partial<KubeObject['metadata']>): Write => {
  const copy = hostCopy()
  return writes.create({ ...copy, metadata: { ...copy.metadata, ...metadata } })
}
const patchOf = (body: JsonObject | JsonObject[]): Write => ({ op: 'patch', patchType: 'merge', body, uid: 'u1' })

describe('lets through', () => {
  test.each<{ what: string; target: ObjectKey; write: Write }>([
    { what: 'a stamped copy in the tenant’s namespace', target: hostTarget, write: writes.create() },
    { what: 'a patch of a copy', target: hostTarget, write: patchOf({ spec: { a: 1 } }) },
    { what: 'labels of a copy', target: hostTarget, write: patchOf({ metadata: { labels: { app: 'x', old: null } } }) },
    { what: 'a delete with proof', target: hostTarget, write: writes.remove() },
    { what: 'a binding', target: virtualTarget, write: writes.bind() },
    { what: 'a status', target: virtualTarget, write: writes.status() },
    {
      what: 'an announcement',
      target: { ...virtualTarget, resource: 'events', name: 'web.1' },
      write: writes.announce(),
    },
    { what: 'a Service made anew', target: serviceTarget, write: replacementOf({}) },
    {
      what: 'a virtual node',
      target: { ...virtualTarget, resource: 'nodes', namespace: '', name: 'n' },
      write: writes.create({ metadata: { name: 'n' } }),
    },
  ])('$what', ({ target, write }) => {
    expect(check(target, write)).toBeUndefined()
  })
})

describe('refuses as outside the tenant', () => {
  test.each<{ what: string; target: ObjectKey; write: Write }>([
    { what: 'another host namespace', target: { ...hostTarget, namespace: 'kube-system' }, write: writes.create() },
    {
      what: 'a cluster-scoped host object',
      target: { ...hostTarget, resource: 'nodes', namespace: '' },
      write: writes.create(),
    },
    { what: 'a copy without a namespace', target: { ...hostTarget, namespace: '' }, write: writes.create() },
    {
      what: 'a kind that is not written',
      target: { ...hostTarget, resource: 'rolebindings.rbac.authorization.k8s.io' },
      write: writes.create(),
    },
    {
      what: 'a name that is a property of every object',
      target: { ...hostTarget, resource: 'constructor' },
      write: writes.create(),
    },
    { what: 'a host status', target: { ...hostTarget, resource: 'configmaps' }, write: writes.status() },
    {
      what: 'a pod with tokens in a Secret of any name',
      target: hostTarget,
      write: { ...writes.create(), tokens: { secret: 'other', serviceAccount: 'a', podUid: 'u', items: [] } } as Write,
    },
    {
      what: 'tokens for something else than a pod',
      target: { ...hostTarget, resource: 'secrets' },
      write: {
        ...writes.create(hostCopy({ resource: 'secrets' })),
        tokens: { secret: 'causeway-token-1', serviceAccount: 'a', podUid: 'u', items: [] },
      } as Write,
    },
    { what: 'a binding on the host', target: hostTarget, write: writes.bind() },
    { what: 'a pod made in the tenant’s cluster', target: virtualTarget, write: writes.create() },
    { what: 'a body with another name', target: hostTarget, write: copyWith({ name: 'other' }) },
    { what: 'a body in another namespace', target: hostTarget, write: copyWith({ namespace: 'kube-system' }) },
    { what: 'a body without stamps', target: hostTarget, write: copyWith({ labels: {} }) },
    {
      what: 'a body of another tenant',
      target: hostTarget,
      write: copyWith({ labels: { 'causeway.dev/tenant': 'b' } }),
    },
    { what: 'a patch that renames', target: hostTarget, write: patchOf({ metadata: { name: 'other' } }) },
    {
      what: 'a patch that takes the stamp off',
      target: hostTarget,
      write: patchOf({ metadata: { labels: { 'causeway.dev/tenant': null } } }),
    },
    { what: 'a patch that takes all labels off', target: hostTarget, write: patchOf({ metadata: { labels: null } }) },
    {
      what: 'a patch that replaces all labels',
      target: hostTarget,
      write: patchOf({ metadata: { labels: { $patch: 'replace' } } }),
    },
    { what: 'a patch without metadata left', target: hostTarget, write: patchOf({ metadata: null }) },
    { what: 'a JSON patch of the whole', target: hostTarget, write: patchOf([{ op: 'replace', path: '', value: {} }]) },
    {
      what: 'a JSON patch of the stamp',
      target: hostTarget,
      write: patchOf([{ op: 'remove', path: '/metadata/labels/causeway.dev~1tenant' }]),
    },
    {
      what: 'a JSON patch that moves the labels away',
      target: hostTarget,
      write: patchOf([{ op: 'move', from: '/metadata/labels', path: '/data' }]),
    },
    {
      what: 'a proof about another tenant’s object',
      target: hostTarget,
      write: {
        op: 'delete',
        uid: 'u',
        proof: { kind: 'confirm-absent', counterpart: { ...virtualTarget, tenant: 'b' } },
      },
    },
    {
      what: 'a proof about an object outside the host namespace',
      target: virtualTarget,
      write: {
        op: 'delete',
        uid: 'u',
        proof: { kind: 'confirm-absent', counterpart: { ...hostTarget, namespace: 'other' } },
      },
    },
    { what: 'a Service made anew under another name', target: serviceTarget, write: replacementOf({ name: 'other' }) },
    { what: 'one in another namespace', target: serviceTarget, write: replacementOf({ namespace: 'other' }) },
    { what: 'any other kind made anew', target: virtualTarget, write: replacementOf({}) },
    { what: 'a copy made anew', target: { ...hostTarget, resource: 'services' }, write: replacementOf({}) },
  ])('$what', ({ target, write }) => {
    expect(check(target, write)).toBe('OutsideTenant')
  })
})

test('a proof about what a mapping shows the tenant is let through, and about nothing else there', () => {
  const byName = { 'infra/ca': 'default/bundle' }
  const { config } = parseTenantConfig({ sync: { fromHost: { configMaps: { enabled: true, mappings: { byName } } } } })
  const target: ObjectKey = { ...virtualTarget, resource: 'configmaps', name: 'bundle' }
  const mapped: TenantPlace = { ...tenant, ...(config === undefined ? {} : { config }) }
  const reasonOf = (name: string) => {
    const counterpart: ObjectKey = { ...hostTarget, resource: 'configmaps', namespace: 'infra', name }
    const write: Write = { op: 'delete', uid: 'u', proof: { kind: 'confirm-absent', counterpart } }
    return refusal({ target, write, source: { ...source, resource: 'configmaps', name: 'bundle' } }, mapped)?.reason
  }
  expect(reasonOf('ca')).toBeUndefined()
  expect(reasonOf('other')).toBe('OutsideTenant')
})

describe('refuses as poison', () => {
  test.each<{ what: string; target: ObjectKey; write: Write }>([
    { what: 'a delete without a uid', target: hostTarget, write: writes.remove('') },
    { what: 'a patch without a uid', target: hostTarget, write: writes.patch('') },
    { what: 'a binding without a uid', target: virtualTarget, write: writes.bind('') },
    { what: 'a replacement without a uid', target: serviceTarget, write: replacementOf({}, { uid: '' }) },
    {
      what: 'a replacement without the uid of the copy',
      target: serviceTarget,
      write: replacementOf({}, { copy: { name: 'web-x-default-x-team-a', uid: '' } }),
    },
    {
      what: 'a delete whose proof has no place in the log',
      target: hostTarget,
      write: { op: 'delete', uid: 'u', proof: { kind: 'state', seq: 0 } },
    },
    {
      what: 'a delete without a proof',
      target: hostTarget,
      write: { op: 'delete', uid: 'u' } as unknown as Write,
    },
  ])('$what', ({ target, write }) => {
    expect(check(target, write)).toBe('PoisonMessage')
  })
})

describe('where each namespace of the tenant has one of its own', () => {
  const { config } = parseTenantConfig({ sync: { toHost: { namespaces: { enabled: true } } } })
  const place = { ...tenant, ...(config === undefined ? {} : { config }) }
  const copyIn = (namespace: string): string | undefined => {
    const { metadata, ...rest } = hostCopy()
    const write: Write = { op: 'create', body: { ...rest, metadata: { ...metadata, namespace } } }
    return refusal({ target: { ...hostTarget, namespace }, write, source }, place)?.reason
  }
  const namespaceNamed = (name: string, within: TenantPlace = place): string | undefined => {
    const target: ObjectKey = { tenant: TENANT, side: 'host', resource: 'namespaces', namespace: '', name }
    const metadata = { name, labels: { 'causeway.dev/tenant': TENANT } }
    const write: Write = { op: 'create', body: { apiVersion: 'v1', kind: 'Namespace', metadata } }
    const of = { resource: 'namespaces', namespace: '', name: 'default' }
    return refusal({ target, write, source: of }, within)?.reason
  }

  test('of a tenant without, no namespace is ever made', () => {
    expect(namespaceNamed(`causeway-default-x-${TENANT}`, tenant)).toBe('OutsideTenant')
  })

  test.each([
    [`causeway-default-x-${TENANT}`, undefined],
    [`causeway-other-x-${TENANT}`, 'OutsideTenant'],
    ['causeway-default-x-other', 'OutsideTenant'],
    [HOST_NAMESPACE, 'OutsideTenant'],
    ['kube-system', 'OutsideTenant'],
  ])('a copy in %s: %s', (namespace, expected) => {
    expect(copyIn(namespace)).toBe(expected)
  })

  test.each([
    [`causeway-default-x-${TENANT}`, undefined],
    [HOST_NAMESPACE, 'OutsideTenant'],
    ['kube-system', 'OutsideTenant'],
  ])('a namespace %s: %s', (name, expected) => {
    expect(namespaceNamed(name)).toBe(expected)
  })
})
