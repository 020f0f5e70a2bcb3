import fc from 'fast-check'
import { expect, test } from 'vitest'
import { MARKER_NAME, markersFilter } from './change.ts'
import { fleetFilter, parseSubject, partitionFilters, resourceFilter, subjectFor, tenantFilter } from './subjects.ts'

const key = { tenant: 'team-a', side: 'virtual', resource: 'pods', namespace: 'default', name: 'web' } as const

test.each([
  ['an object in a namespace', 'change', 3, key, 'change.3.team-a.virtual.pods.default.web'],
  ['an object without namespace', 'intent', 3, { ...key, namespace: '' }, 'intent.3.team-a.virtual.pods._.web'],
  [
    'a kind of a group',
    'outcome',
    0,
    { ...key, resource: 'deployments.apps' },
    'outcome.0.team-a.virtual.deployments%2Eapps.default.web',
  ],
  [
    'a host object that concerns all tenants',
    'change',
    'all',
    { tenant: '', side: 'host', resource: 'nodes', namespace: '', name: 'n.1' },
    'change.all._.host.nodes._.n%2E1',
  ],
] as const)('the subject of %s', (_title, type, partition, object, subject) => {
  expect(subjectFor(type, partition, object)).toBe(subject)
  expect(parseSubject(subject)).toEqual({ type, partition, key: object })
})

test('any key comes back from its subject', () => {
  const part = fc.string({ unit: 'grapheme', minLength: 1 }).filter((text) => text !== '_')
  fc.assert(
    fc.property(part, part, fc.option(part, { nil: '' }), part, (tenant, resource, namespace, name) => {
      const object = { tenant, side: 'host' as const, resource, namespace, name }
      expect(parseSubject(subjectFor('change', 7, object)).key).toEqual(object)
    }),
  )
})

test.each([
  'change.3.team-a.virtual.pods.default',
  'change.3.team-a.virtual.pods.default.web.more',
  'changes.3.team-a.virtual.pods.default.web',
  'change.three.team-a.virtual.pods.default.web',
  'change.3.team-a.left.pods.default.web',
  '',
])('%j is no subject of ours', (subject) => {
  expect(() => parseSubject(subject)).toThrow(/not a subject of ours/)
})

test('filters match what they are for', () => {
  expect(partitionFilters('change', 3)).toEqual(['change.3.>', 'change.all.>'])
  expect(partitionFilters('intent', 3)).toEqual(['intent.3.>'])
  expect(tenantFilter('outcome', 3, 'team-a')).toBe('outcome.3.team-a.>')
  expect(resourceFilter('all', { tenant: '', side: 'host', resource: 'nodes' })).toBe('change.all._.host.nodes.>')
})

test('a filter for the fleet names a kind of a group in one token, as subjects do', () => {
  const ref = {
    tenant: 'team-a',
    side: 'host',
    resource: 'ingresses.networking.k8s.io',
    namespace: '',
    name: '_synced',
  }
  const subject = subjectFor('change', 3, { ...ref, side: 'host' })
  expect(subject.split('.').slice(4).join('.')).toBe(
    fleetFilter(ref.resource, '_._synced').slice('change.*.*.host.'.length),
  )
})

test('a filter for markers has the form of their subjects, with any resource and tenant in it', () => {
  const marker = { tenant: 't', side: 'virtual', resource: 'a.b.c', namespace: '', name: MARKER_NAME } as const
  const tokens = subjectFor('change', 3, marker).split('.')
  for (const filter of [markersFilter('virtual'), markersFilter('virtual', 3)]) {
    const wanted = filter.split('.')
    expect(wanted).toHaveLength(tokens.length)
    expect(wanted.every((token, at) => token === '*' || token === tokens[at])).toBe(true)
  }
  expect(markersFilter('virtual', 4)).not.toBe(markersFilter('virtual', 3))
})
