import { expect, test } from 'vitest'
import { type AcceptedTenant, acceptEntry } from './accept-entry.ts'

const ENTRY = { name: 'team-a', uid: 'one', hostNamespace: 'host-a', kubeconfig: '/a' }
const NONE = (): undefined => undefined

function accept(value: unknown, before?: AcceptedTenant): ReturnType<typeof acceptEntry> {
  return acceptEntry(value, before === undefined ? NONE : (name) => (name === before.entry.name ? before : undefined))
}

test('a tenant without a configuration has the defaults', () => {
  const { tenant, problems } = accept(ENTRY)
  expect(problems).toEqual([])
  expect(tenant?.config.sync.toHost.pods.enabled).toBe(true)
  expect(tenant?.config.sync.toHost.ingresses.enabled).toBe(false)
})

test('an entry’s own keys hold where its configuration has none', () => {
  const entry = { ...ENTRY, workloadServiceAccount: 'runner', reservedLabels: ['release'] }
  expect(accept(entry).tenant?.config).toMatchObject({ workloadServiceAccount: 'runner', reservedLabels: ['release'] })
  const configured = accept({ ...entry, config: { workloadServiceAccount: 'other' } })
  expect(configured.tenant?.config).toMatchObject({ workloadServiceAccount: 'other', reservedLabels: ['release'] })
})

test('an invalid configuration leaves the one before in place, and what else changed is taken', () => {
  const before = accept({ ...ENTRY, config: { sync: { toHost: { ingresses: { enabled: true } } } } }).tenant
  const { tenant, problems } = accept(
    { ...ENTRY, kubeconfig: '/b', config: { sync: { toHost: { ingress: {} } } } },
    before,
  )
  expect(problems).toEqual(['config.sync.toHost.ingress: is no known key; did you mean sync.toHost.ingresses?'])
  expect(tenant?.entry.kubeconfig).toBe('/b')
  expect(tenant?.entry.config).toEqual(before?.entry.config)
  expect(tenant?.config.sync.toHost.ingresses.enabled).toBe(true)
})

test('a tenant that never had a valid configuration is not accepted', () => {
  const config = { nodes: { model: 'dedicated' } }
  expect(accept({ ...ENTRY, config }).tenant).toBeUndefined()
  const namesake = accept(ENTRY).tenant
  expect(accept({ ...ENTRY, uid: 'two', config }, namesake).tenant).toBeUndefined()
})

test('says which key of an entry is wrong', () => {
  expect(accept({ ...ENTRY, uid: '' }).problems[0]).toMatch(/^uid: /)
})

test('a configuration that puts copies elsewhere leaves the one before in place', () => {
  const spread = { sync: { toHost: { namespaces: { enabled: true } } } }
  const before = accept(ENTRY).tenant
  const { tenant, problems } = accept({ ...ENTRY, config: spread }, before)
  expect(problems).toEqual([expect.stringContaining('config.sync.toHost.namespaces.enabled: says where on the host')])
  expect(tenant?.config.sync.toHost.namespaces.enabled).toBe(false)
  const anew = accept({ ...ENTRY, uid: 'two', config: spread }, before)
  expect(anew.problems).toEqual([])
  expect(anew.tenant?.config.sync.toHost.namespaces.enabled).toBe(true)
})
