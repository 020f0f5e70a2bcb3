import { expect, test } from 'vitest'
import { mappedNamespaces, originalOf, shownAs } from './mapping.ts'

const tenant = { hostNamespace: 'tenant-team-a' }
const ref = (text: string) => {
  const [namespace = '', name = ''] = text.split('/')
  return { namespace, name }
}

const byName = {
  'infra/ca': 'default/ca-bundle',
  'infra/*': 'from-infra/*',
  '': 'own/*',
  '/special': 'default/special',
}

test.each([
  ['infra/ca', 'default/ca-bundle'],
  ['infra/other', 'from-infra/other'],
  ['tenant-team-a/plain', 'own/plain'],
  ['tenant-team-a/special', 'default/special'],
])('%s appears as %s, and nothing else as that', (host, virtual) => {
  expect(shownAs(byName, ref(host), tenant)).toEqual(ref(virtual))
  expect(originalOf(byName, ref(virtual), tenant)).toEqual(ref(host))
})

test.each(['elsewhere/ca', 'tenant-team-b/plain'])('%s of the host does not appear', (host) => {
  expect(shownAs(byName, ref(host), tenant)).toBeUndefined()
})

test.each(['default/ca', 'from-infra/ca', 'own/special', 'other/x'])('%s of the tenant is no copy', (virtual) => {
  expect(originalOf(byName, ref(virtual), tenant)).toBeUndefined()
})

test('the namespaces of a mapping are those it names, and the tenant’s own', () => {
  expect(mappedNamespaces(byName, tenant)).toEqual(['infra', 'tenant-team-a'])
})
