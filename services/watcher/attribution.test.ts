import { expect, test } from 'vitest'
import { parseTenantConfig } from '#libs/sync-config'
import { attribute } from './attribution.ts'

const hostNamespaces: Record<string, string> = { a: 'ns-a', b: 'ns-b' }

test.each([
  ['in its tenant’s namespace', 'a', 'ns-a', { tenant: 'a' }],
  ['in another tenant’s namespace', 'a', 'ns-b', { dropped: 'outside-namespace', tenant: 'a' }],
  ['in nobody’s namespace', 'a', 'kube-system', { dropped: 'outside-namespace', tenant: 'a' }],
  ['of a tenant that is not registered', 'c', 'ns-a', { dropped: 'unknown-tenant', tenant: 'c' }],
  ['without the label', undefined, 'ns-a', { dropped: 'unknown-tenant', tenant: '' }],
])('an object %s', (_, tenant, namespace, expected) => {
  const labels = tenant === undefined ? {} : { 'causeway.dev/tenant': tenant }
  const object = { metadata: { name: 'x', namespace, labels } }
  const placeOf = (name: string) => {
    const hostNamespace = hostNamespaces[name]
    return hostNamespace === undefined ? undefined : { name, hostNamespace }
  }
  expect(attribute(object, placeOf)).toEqual(expected)
})

test.each([
  ['the namespace that stands for the one it names', 'shop', 'causeway-shop-x-a', { tenant: 'a' }],
  ['that of another of the tenant’s', 'shop', 'causeway-web-x-a', { dropped: 'outside-namespace', tenant: 'a' }],
  ['that of another tenant', 'shop', 'causeway-shop-x-b', { dropped: 'outside-namespace', tenant: 'a' }],
  ['the tenant’s host namespace', 'shop', 'ns-a', { dropped: 'outside-namespace', tenant: 'a' }],
])('where namespaces have some of their own, an object in %s', (_, original, namespace, expected) => {
  const { config } = parseTenantConfig({ sync: { toHost: { namespaces: { enabled: true } } } })
  if (config === undefined) throw new Error('the configuration is refused')
  const labels = { 'causeway.dev/tenant': 'a', 'causeway.dev/namespace': original }
  const object = { metadata: { name: 'x', namespace, labels } }
  expect(attribute(object, (name) => ({ name, hostNamespace: 'ns-a', config }))).toEqual(expected)
})
