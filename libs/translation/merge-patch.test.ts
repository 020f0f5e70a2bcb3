import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { JsonObject } from '#libs/kube-model'
import { mergePatchOf } from './merge-patch.ts'
import { applyPatch } from './testing/apply-patch.ts'

const { object } = fc.letrec<{ object: JsonObject }>((tie) => ({
  object: fc.dictionary(
    fc.constantFrom('a', 'b', 'c'),
    fc.oneof({ maxDepth: 3 }, fc.integer(), fc.string(), fc.array(fc.integer()), tie('object')),
  ) as fc.Arbitrary<JsonObject>,
}))

test('a merge patch turns the one object into the other', () => {
  fc.assert(
    fc.property(object, object, (current, desired) => {
      const patch = mergePatchOf(current, desired)
      expect(applyPatch(current, patch ?? {}, false)).toEqual(desired)
    }),
  )
})

test('there is no patch between equal objects', () => {
  fc.assert(fc.property(object, (same) => mergePatchOf(same, structuredClone(same)) === undefined))
  expect(mergePatchOf({}, {})).toBeUndefined()
})

test('a patch says nothing about fields that stay', () => {
  expect(mergePatchOf({ a: { b: 1, c: 2 }, d: [1] }, { a: { b: 1, c: 3 }, d: [1] })).toEqual({ a: { c: 3 } })
})
