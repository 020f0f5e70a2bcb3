import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { withoutManagedFields } from './managed-fields.ts'
import { parseWatchLine } from './watch-line.ts'

const identity = { name: 'web', namespace: 'shop', uid: 'u-1', resourceVersion: '5' }
const line = (event: unknown): Buffer => Buffer.from(JSON.stringify(event))
const fields = [
  { manager: 'k "[{', fieldsV1: { 'f:metadata': { 'f:labels': { 'k:{"a":"]"}': {} } } } },
  { manager: 'x' },
]

describe('parseWatchLine', () => {
  test('hands out the object and the bytes of its line', () => {
    const bytes = line({ type: 'MODIFIED', object: { metadata: identity, spec: { unknown: 1 } } })
    expect(parseWatchLine(bytes)).toEqual({
      type: 'MODIFIED',
      object: { metadata: identity, spec: { unknown: 1 } },
      raw: bytes,
    })
  })

  test('replaces what is no UTF-8, in the object and in the bytes', () => {
    const text = JSON.stringify({ type: 'ADDED', object: { metadata: identity, data: { a: 'x~y' } } })
    const bytes = Buffer.from(text)
    bytes[text.indexOf('~')] = 0xff
    expect(parseWatchLine(bytes)).toMatchObject({
      object: { data: { a: 'x\uFFFDy' } },
      raw: Buffer.from(text.replace('~', '\uFFFD')),
    })
  })

  test('reads the version of a bookmark', () => {
    const bookmark = line({ type: 'BOOKMARK', object: { kind: 'Pod', metadata: { resourceVersion: '77' } } })
    expect(parseWatchLine(bookmark)).toEqual({ type: 'BOOKMARK', resourceVersion: '77' })
  })

  test('throws the status of an ERROR event', () => {
    const error = line({ type: 'ERROR', object: { kind: 'Status', code: 410, reason: 'Expired', message: 'too old' } })
    expect(() => parseWatchLine(error)).toThrow(expect.objectContaining({ statusCode: 410, reason: 'Expired' }))
  })

  test.each([
    ['cut off', '{"type":"ADDED","object":{"metadata":{"na'],
    ['no event', '17'],
    ['of an unknown type', '{"type":"RENAMED","object":{}}'],
    ['without a uid', '{"type":"ADDED","object":{"metadata":{"name":"a","resourceVersion":"1"}}}'],
    ['a bookmark without a version', '{"type":"BOOKMARK","object":{"metadata":{}}}'],
  ])('refuses a line that is %s', (_, bytes) => {
    expect(() => parseWatchLine(Buffer.from(bytes))).toThrow(expect.objectContaining({ reason: 'Corrupt' }))
  })

  test('keeps what a corrupt line says out of the error', () => {
    const corrupt = Buffer.from('{"type":"ADDED","object":{"data":{"password":aHVudGVyMg==}}}')
    expect(() => parseWatchLine(corrupt)).toThrow(
      expect.not.objectContaining({ message: expect.stringContaining('aHV') }),
    )
  })
})

describe('withoutManagedFields', () => {
  test.each([
    ['last in the metadata', { ...identity, managedFields: fields }],
    ['first in the metadata', { managedFields: fields, ...identity }],
    [
      'after a label that looks like them',
      { labels: { x: ',"managedFields":[{}]' }, ...identity, managedFields: fields },
    ],
  ])('drops them %s', (_, metadata) => {
    const { managedFields: _fields, ...rest } = metadata
    const cut = withoutManagedFields(line({ type: 'ADDED', object: { kind: 'Pod', metadata, spec: { a: '}' } } }))
    expect(cut.toString()).toBe(
      JSON.stringify({ type: 'ADDED', object: { kind: 'Pod', metadata: rest, spec: { a: '}' } } }),
    )
  })

  test.each([
    ["in a template's metadata", { metadata: identity, spec: { metadata: { managedFields: [1] } } }],
    ["in somebody's data before the metadata", { data: { metadata: { managedFields: [1] } }, metadata: identity }],
    ['in a list of objects', { metadata: { name: 'a', ownerReferences: [{ managedFields: [1] }] } }],
    ['as a list that does not matter', { managedFields: [1], metadata: identity }],
  ])('keeps a field of that name %s', (_, object) => {
    const bytes = line({ type: 'ADDED', object })
    expect(withoutManagedFields(bytes)).toBe(bytes)
  })

  test('changes nothing else, whatever the object holds', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.jsonValue(), (labels, spec) => {
        const metadata = { name: 'a', labels }
        const event = (extra: object): Buffer =>
          line({ type: 'ADDED', object: { kind: 'K', metadata: { ...metadata, ...extra }, spec } })
        const managed = event({ managedFields: fields })
        const marked = JSON.stringify(labels).includes('"managedFields":[')
        expect(withoutManagedFields(managed).toString()).toBe((marked ? managed : event({})).toString())
      }),
    )
  })
})
