import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { JsonObject } from '#libs/kube-model'
import { type KeyChanges, plainTag, secretTag, tagsOf, threeWay } from './three-way.ts'

const agreed = { a: '1', b: '1', c: '1' }

describe('threeWay', () => {
  test.each([
    ['the tenant changed a key', { ...agreed, a: '2' }, agreed, { a: '2' }, {}, []],
    ['the host changed a key', agreed, { ...agreed, a: '2' }, {}, { a: '2' }, []],
    ['the tenant removed a key', { b: '1', c: '1' }, agreed, { a: null }, {}, []],
    ['the host removed a key', agreed, { b: '1', c: '1' }, {}, { a: null }, []],
    ['each changed another key', { ...agreed, a: '2' }, { ...agreed, b: '2' }, { a: '2' }, { b: '2' }, []],
    ['both changed a key', { ...agreed, a: '2' }, { ...agreed, a: '3' }, { a: '2' }, {}, ['a']],
    ['the tenant removed what the host changed', { b: '1', c: '1' }, { ...agreed, a: '3' }, { a: null }, {}, ['a']],
    ['both added a key alike', { ...agreed, d: '1' }, { ...agreed, d: '1' }, {}, {}, []],
  ])('%s', (_title, virtual, host, toHost, toVirtual, conflicts) => {
    const merge = threeWay(tagsOf(agreed), {
      virtual: virtual as Record<string, string>,
      host: host as Record<string, string>,
    })
    expect({ ...merge.toHost }).toEqual(toHost)
    expect({ ...merge.toVirtual }).toEqual(toVirtual)
    expect(merge.conflicts).toEqual(conflicts)
  })

  test("takes the tenant's value and keeps what only one side has where nothing is known of the past", () => {
    const merge = threeWay(undefined, { virtual: { a: '1', b: '1' }, host: { a: '2', c: '1' } })
    expect({ ...merge.toHost }).toEqual({ a: '1', b: '1' })
    expect({ ...merge.toVirtual }).toEqual({ c: '1' })
  })

  test('treats keys like any other that every object inherits', () => {
    const virtual = JSON.parse('{"constructor":"1","__proto__":"2"}') as Record<string, string>
    const merge = threeWay({}, { virtual, host: { toString: 'x' } as unknown as Record<string, string> })
    expect(Object.entries(merge.toHost)).toEqual([
      ['constructor', '1'],
      ['__proto__', '2'],
    ])
    expect(Object.entries(merge.toVirtual)).toEqual([['toString', 'x']])
  })

  test('comes to rest once both sides have taken their changes', () => {
    const maps = fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd'), fc.constantFrom('1', '2', '3'))
    fc.assert(
      fc.property(
        fc.option(maps, { nil: undefined }),
        maps,
        maps,
        fc.constantFrom(plainTag, secretTag),
        (before, virtual, host, tag) => {
          const base = before === undefined ? undefined : tagsOf(before, tag)
          const first = threeWay(base, { virtual, host }, tag)
          // The writes go one at a time: to the host first, and the rest is decided again from what that left.
          const hostThen = apply(host, first.toHost)
          const second = threeWay(first.baseAfterHost, { virtual, host: hostThen }, tag)
          expect({ ...second.toHost }).toEqual({})
          const virtualThen = apply(virtual, second.toVirtual)
          const last = threeWay(second.baseAfterVirtual, { virtual: virtualThen, host: hostThen }, tag)
          expect(virtualThen).toEqual(hostThen)
          expect({ ...last.toHost, ...last.toVirtual }).toEqual({})
          expect({ ...last.baseAfterHost }).toEqual(tagsOf(virtualThen, tag) as JsonObject)
        },
      ),
    )
  })

  test('keeps no more of a secret than four digits of a hash', () => {
    expect(secretTag('correct horse battery staple')).toMatch(/^#[0-9a-f]{4}$/)
  })
})

function apply(map: Record<string, string>, changes: KeyChanges): Record<string, string> {
  const result = { ...map }
  for (const [key, value] of Object.entries(changes)) {
    if (value === null) delete result[key]
    else result[key] = value
  }
  return result
}
