import { describe, expect, it } from 'vitest'

import { ApiError } from '../api-error.ts'
import { applyJsonPatch } from './json-patch.ts'

const document = { data: { a: '1', b: '2' }, list: [1, 2, 3] }

function refusal(operations: unknown): ApiError {
  try {
    applyJsonPatch(document, operations)
  } catch (error) {
    if (error instanceof ApiError) return error
  }
  throw new Error('the patch was not refused')
}

describe('applyJsonPatch', () => {
  it.each([
    ['adds a field', [{ op: 'add', path: '/data/c', value: '3' }], { a: '1', b: '2', c: '3' }],
    [
      'adds a field with a slash in its name',
      [{ op: 'add', path: '/data/x.y~1z', value: '3' }],
      { a: '1', b: '2', 'x.y/z': '3' },
    ],
    ['removes a field', [{ op: 'remove', path: '/data/b' }], { a: '1' }],
    ['replaces a field', [{ op: 'replace', path: '/data/a', value: '9' }], { a: '9', b: '2' }],
    ['replaces a field that is missing', [{ op: 'replace', path: '/data/c', value: '9' }], { a: '1', b: '2', c: '9' }],
    ['moves a field', [{ op: 'move', from: '/data/b', path: '/data/c' }], { a: '1', c: '2' }],
    ['copies a field', [{ op: 'copy', from: '/data/b', path: '/data/c' }], { a: '1', b: '2', c: '2' }],
    [
      'goes on after a test that holds',
      [
        { op: 'test', path: '/data/a', value: '1' },
        { op: 'remove', path: '/data/a' },
      ],
      { b: '2' },
    ],
  ])('%s', (_, operations, data) => {
    expect(applyJsonPatch(document, operations)).toEqual({ ...document, data })
  })

  it.each([
    ['inserts into a list', [{ op: 'add', path: '/list/1', value: 9 }], [1, 9, 2, 3]],
    ['appends to a list', [{ op: 'add', path: '/list/-', value: 9 }], [1, 2, 3, 9]],
    ['removes from a list', [{ op: 'remove', path: '/list/0' }], [2, 3]],
  ])('%s', (_, operations, list) => {
    expect(applyJsonPatch(document, operations)).toEqual({ ...document, list })
  })

  it.each([
    ['a test that fails', [{ op: 'test', path: '/data/a', value: 'x' }]],
    ['a missing field to remove', [{ op: 'remove', path: '/data/none' }]],
    ['a missing parent', [{ op: 'add', path: '/nope/deep', value: 1 }]],
    ['an index beyond the list', [{ op: 'remove', path: '/list/5' }]],
    ['an unknown operation', [{ op: 'frob', path: '/data/a' }]],
    ['a path without a slash', [{ op: 'remove', path: 'data' }]],
  ])('refuses %s as unprocessable', (_, operations) => {
    expect(refusal(operations).code).toBe(422)
  })

  it('refuses a body that is no list as a bad request', () => {
    expect(refusal({ data: {} }).message).toBe(
      'error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp',
    )
  })

  it('leaves the document and the prototype alone', () => {
    const frozen = Object.freeze({ data: Object.freeze({ a: '1' }) })
    const result = applyJsonPatch(frozen, [{ op: 'add', path: '/__proto__', value: { polluted: true } }])
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined()
    expect(Object.keys(result)).toContain('__proto__')
  })
})
