import { describe, expect, test } from 'vitest'
import type { JsonObject } from '#libs/kube-model'
import { fieldTags, ownedFieldsPatch, contentTags, differsForGood } from './owned-fields.ts'

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

describe('a field that no API lets change', () => {
  const crossed = contentTags({ provisioner: 'a', spec: { devices: { count: 1 } } })

  test.each<[string, string, JsonObject, JsonObject, boolean]>([
    ['as it is', 'provisioner', { provisioner: 'a' }, { provisioner: 'a' }, false],
    ['another', 'provisioner', { provisioner: 'b' }, { provisioner: 'a' }, true],
    ['filled in by the API', 'reclaimPolicy', {}, { reclaimPolicy: 'Delete' }, false],
    ['that is wanted no more', 'provisioner', {}, { provisioner: 'a' }, true],
    [
      'with defaults inside',
      'spec.devices',
      { spec: { devices: { count: 1 } } },
      { spec: { devices: { count: 1, mode: 'x' } } },
      false,
    ],
    ['with less wanted inside', 'spec.devices', { spec: { devices: {} } }, { spec: { devices: { count: 1 } } }, true],
  ])('%s', (_what, path, wanted, current, differs) => {
    expect(differsForGood(path, { wanted, current, crossed })).toBe(differs)
  })
})
