import { expect, test } from 'vitest'
import { RESOURCES } from '#libs/kube-model'
import { parseTenantConfig } from '#libs/sync-config'
import { aroundObject, subjectsOf, wholeTenant } from './state-filters.ts'

const { config } = parseTenantConfig({})
if (config === undefined) throw new Error('the configuration is invalid')
const scope = { tenant: { name: 'a', hostNamespace: 'causeway-a', config }, partition: 3 }

/** Whether a subject could match both: the server refuses such filters in one consumer. */
function overlap(one: string, other: string): boolean {
  const [a, b] = [one.split('.'), other.split('.')]
  for (const [index, token] of a.entries()) {
    const against = b[index]
    if (token === '>' || against === '>') return true
    if (against === undefined) return false
    if (token !== against && token !== '*' && against !== '*') return false
  }
  return a.length === b.length
}

const namespaces = ['default', 'kube-system', 'odd.name']

test.each(Object.keys(RESOURCES))('no two filters for an object of %s match the same subject', (resource) => {
  for (const namespace of namespaces) {
    const filters = aroundObject(scope, { resource, namespace, name: 'x' }) ?? wholeTenant(scope)
    const pairs = filters.flatMap((one, index) => filters.slice(index + 1).map((other) => [one, other] as const))
    expect(pairs.filter(([one, other]) => overlap(one, other))).toEqual([])
  }
})

test('an object that is named twice is read once', () => {
  const ref = { resource: 'secrets', namespace: 'default', name: 's' }
  expect(subjectsOf(scope, [ref, ref])).toEqual(subjectsOf(scope, [ref]))
})

test.each([
  ['of an object in no namespace', { resource: 'nodes', namespace: '', name: 'n' }],
  [
    'of a kind that refers over namespaces',
    { resource: 'httproutes.gateway.networking.k8s.io', namespace: 'n', name: 'r' },
  ],
  ['of a custom resource', { resource: 'widgets.example.com', namespace: 'n', name: 'w' }],
])('all of the tenant is read for the sake %s', (_title, ref) => {
  expect(aroundObject(scope, ref)).toBeUndefined()
})
