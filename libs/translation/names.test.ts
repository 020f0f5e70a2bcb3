import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseTenantConfig } from '#libs/sync-config'
import { type TenantPlace, hostName, hostNamespaceFor, hostRefOf, tenantNameProblem } from './names.ts'

const subdomain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/
const label = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/

/** Names that are made to be mistaken for one another: few pieces, many separators. */
const hostileLabel = fc
  .array(fc.constantFrom('x', '-x-', '-', 'a', 'b', 'x-', '-x', '0'), { minLength: 1, maxLength: 12 })
  .map((parts) => parts.join(''))
  .filter((name) => label.test(name) && name.length <= 63)
const longLabel = fc.stringMatching(/^[a-z]{40,63}$/)
const namespaces = fc.oneof(hostileLabel, longLabel)
const names = fc.oneof(
  hostileLabel,
  longLabel,
  fc
    .array(fc.oneof(hostileLabel, fc.stringMatching(/^[a-z0-9]{1,60}$/)), { minLength: 2, maxLength: 8 })
    .map((parts) => parts.join('.'))
    .filter((name) => name.length <= 253),
)
const tenants = fc
  .oneof(hostileLabel, fc.stringMatching(/^[a-z]{1,40}$/))
  .filter((name) => tenantNameProblem(name) === undefined)

describe('hostName', () => {
  test.each([
    ['web', 'default', 'vc', 'web-x-default-x-vc'],
    ['my.config', 'kube-system', 'team-a', 'my.config-x-kube-system-x-team-a'],
    ['gold', '', 'team-a', 'causeway-gold-x-team-a'],
  ])('joins %s in "%s" of %s to a readable name', (name, namespace, tenant, expected) => {
    expect(hostName({ name, namespace }, tenant)).toBe(expected)
  })

  test('tells apart two objects whose joined names are the same', () => {
    const one = hostName({ name: 'a', namespace: 'b-x-c' }, 't')
    const other = hostName({ name: 'a-x-b', namespace: 'c' }, 't')
    expect(one).toMatch(/^a-x-b-x-c-x-t-[0-9a-f]{10}$/)
    expect(other).not.toBe(one)
  })

  test('counts overlapping separators, so that `x` as a namespace is hashed', () => {
    expect(hostName({ name: 'a', namespace: 'x' }, 't')).toMatch(/^a-x-x-x-t-[0-9a-f]{10}$/)
  })

  test('keeps the first 52 bytes of a long name and says the rest by hash', () => {
    const name = hostName({ name: 'a'.repeat(60), namespace: 'default' }, 'vc')
    expect(name).toMatch(/^a{52}-[0-9a-f]{10}$/)
    expect(name).toHaveLength(63)
  })

  test('never ends its readable part in a dot or dash', () => {
    expect(hostName({ name: `${'a'.repeat(51)}.${'b'.repeat(30)}`, namespace: 'ns' }, 'vc')).toMatch(
      /^a{51}-[0-9a-f]{10}$/,
    )
  })

  test('is a valid name of at most 63 bytes, whatever the parts are', () => {
    fc.assert(
      fc.property(names, fc.oneof(namespaces, fc.constant('')), tenants, (name, namespace, tenant) => {
        const result = hostName({ name, namespace }, tenant)
        expect(result.length).toBeLessThanOrEqual(63)
        expect(result).toMatch(subdomain)
      }),
    )
  })

  test('is a DNS label where the name is one, as Services need', () => {
    fc.assert(
      fc.property(hostileLabel, namespaces, tenants, (name, namespace, tenant) => {
        expect(hostName({ name, namespace }, tenant)).toMatch(label)
      }),
    )
  })

  test('gives different objects different names', () => {
    const tuple = fc.tuple(names, fc.oneof(namespaces, fc.constant('')), tenants)
    fc.assert(
      fc.property(fc.array(tuple, { minLength: 2, maxLength: 60 }), (tuples) => {
        const distinct = new Map(tuples.map((parts) => [parts.join('\0'), parts]))
        const results = new Set(
          [...distinct.values()].map(([name, namespace, tenant]) => hostName({ name, namespace }, tenant)),
        )
        expect(results.size).toBe(distinct.size)
      }),
      { numRuns: 300 },
    )
  })

  test('makes a valid name even of one that no API should have let in', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', minLength: 1, maxLength: 80 }), (name) => {
        const result = hostName({ name: `a${name}`, namespace: 'ns' }, 't')
        expect(result).toMatch(subdomain)
        expect(result.length).toBeLessThanOrEqual(63)
      }),
    )
  })
})

describe('tenantNameProblem', () => {
  test.each(['a', 'team-a', 'x', 'a'.repeat(40), '0'])('accepts "%s"', (name) => {
    expect(tenantNameProblem(name)).toBeUndefined()
  })

  test.each(['', 'a-x-b', 'a'.repeat(41), 'Team', 'a.b', '-a', 'a-', 'a_b', 'é'])(
    'refuses "%s" with a reason',
    (name) => {
      expect(tenantNameProblem(name)).toMatch(/tenant/)
    },
  )
})

describe('where each namespace has one of its own on the host', () => {
  const placeOf = (namespaces: object): TenantPlace => {
    const { config } = parseTenantConfig({ sync: { toHost: { namespaces: { enabled: true, ...namespaces } } } })
    if (config === undefined) throw new Error('the configuration is refused')
    return { name: 'team-a', hostNamespace: 'tenant-team-a', config }
  }
  const byName = { web: 'front', 'db-*': 'data-*', '*-old': 'archive-*-x' }

  test.each([
    ['shop', {}, 'causeway-shop-x-team-a'],
    ['a-x-b', {}, hostName({ namespace: '', name: 'a-x-b' }, 'team-a')],
    ['kube-system', {}, 'causeway-kube-system-x-team-a'],
    ['web', { mappings: { byName } }, 'front'],
    ['db-1', { mappings: { byName } }, 'data-1'],
    ['web-old', { mappings: { byName } }, 'archive-web-x'],
    ['db-', { mappings: { byName } }, 'causeway-db--x-team-a'],
    ['shop', { mappings: { byName } }, 'causeway-shop-x-team-a'],
  ])('what is in %s with %o is in %s', (namespace, options, expected) => {
    const place = placeOf(options)
    expect(hostNamespaceFor(namespace, place)).toBe(expected)
    expect(hostRefOf({ resource: 'pods', namespace, name: 'a' }, place)).toMatchObject({ namespace: expected })
    expect(hostRefOf({ resource: 'namespaces', namespace: '', name: namespace }, place)).toEqual({
      resource: 'namespaces',
      namespace: '',
      name: expected,
    })
  })

  test('different namespaces and tenants never share one', () => {
    const label = fc.stringMatching(/^[a-z0-9]([-a-z0-9]{0,20}[a-z0-9])?$/)
    const tenant = label.filter((name) => tenantNameProblem(name) === undefined)
    fc.assert(
      fc.property(label, tenant, label, tenant, (one, first, two, second) => {
        fc.pre(one !== two || first !== second)
        const place = placeOf({})
        expect(hostNamespaceFor(one, { ...place, name: first })).not.toBe(
          hostNamespaceFor(two, { ...place, name: second }),
        )
      }),
    )
  })

  test('off, all copies are in the tenant’s host namespace', () => {
    expect(hostNamespaceFor('shop', { name: 'team-a', hostNamespace: 'tenant-team-a' })).toBe('tenant-team-a')
  })
})
