import { expect, test } from 'vitest'
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
  expect(attribute(object, (name) => hostNamespaces[name])).toEqual(expected)
})
