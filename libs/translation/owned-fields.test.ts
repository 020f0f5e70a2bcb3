import { describe, expect, test } from 'vitest'
import type { JsonObject } from '#libs/kube-model'
import { fieldTags, ownedFieldsPatch } from './owned-fields.ts'

describe('fields that one side owns', () => {
  test.each<[string, JsonObject, JsonObject, JsonObject | undefined]>([
    ['nothing where they agree', { a: 1 }, { a: 1 }, undefined],
    ['nothing for what the API filled in', { a: { x: 1, filled: 2 }, other: 3 }, { a: { x: 1 } }, undefined],
    ['what is not there', {}, { a: 1 }, { a: 1 }],
    ['what somebody changed', { a: { x: 2, filled: 2 } }, { a: { x: 1 } }, { a: { x: 1, filled: null } }],
    ['what somebody added to the labels of a selector', sel({ x: '1', y: '2' }), sel({ x: '1' }), sel({ y: null })],
    ['lists as a whole', { a: [1, 2] }, { a: [1] }, { a: [1] }],
  ])('are given: %s', (_title, current, wanted, patch) => {
    expect(ownedFieldsPatch(current, wanted, { crossed: fieldTags(wanted) })).toEqual(patch)
  })

  test('go once they are owned no more', () => {
    const options = { crossed: fieldTags({ a: 1, b: 2 }) }
    expect(ownedFieldsPatch({ a: 1, b: 2, filled: 3 }, { a: 1 }, options)).toEqual({ b: null })
  })

  test('lose what they lost: a change shows also where less is said than before', () => {
    const options = { crossed: fieldTags({ a: { x: 1, y: 2 } }) }
    expect(ownedFieldsPatch({ a: { x: 1, y: 2 } }, { a: { x: 1 } }, options)).toEqual({ a: { y: null } })
  })

  test('are compared to the last bit where nothing is known of the past, but for those that are nobody’s to take', () => {
    const options = { crossed: undefined, owns: (field: string) => field !== 'status' }
    expect(ownedFieldsPatch({ a: { x: 1, y: 2 }, b: 1, status: 2 }, { a: { x: 1 } }, options)).toEqual({
      a: { y: null },
      b: null,
    })
  })
})

function sel(matchLabels: JsonObject): JsonObject {
  return { selector: { matchLabels } }
}
