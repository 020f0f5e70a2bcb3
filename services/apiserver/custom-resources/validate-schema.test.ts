import { describe, expect, it } from 'vitest'
import type { Json, JsonObject } from '#libs/kube-model'
import { defaultCustom } from './default-custom.ts'
import { valuesAt, withValueAt } from './json-path.ts'
import type { JsonSchema } from './json-schema.ts'
import { pruneCustom } from './prune-custom.ts'
import { ruleProblems } from './validate-rules.ts'
import { duplicateProblems, validateSchema } from './validate-schema.ts'

const texts = (schema: JsonSchema, value: Json): string[] =>
  validateSchema(schema, value, 'spec').map(({ field, message }) => `${field}: ${message}`)

describe('validateSchema', () => {
  it.each<[JsonSchema, Json, string]>([
    [{ type: 'integer' }, 1.5, 'spec: Invalid value: "number": spec in body must be of type integer: "number"'],
    [{ type: 'string' }, null, 'spec: Invalid value: "null": spec in body must be of type string: "null"'],
    [{ type: 'number', minimum: 1 }, 0, 'spec: Invalid value: 0: spec in body should be greater than or equal to 1'],
    [
      { type: 'number', maximum: 1, exclusiveMaximum: true },
      1,
      'spec: Invalid value: 1: spec in body should be less than 1',
    ],
    [{ type: 'integer', multipleOf: 3 }, 4, 'spec: Invalid value: 4: spec in body should be a multiple of 3'],
    [{ type: 'string', maxLength: 2 }, 'abc', 'spec: Too long: may not be more than 2 bytes'],
    [{ type: 'string', minLength: 2 }, 'a', 'spec: Invalid value: "a": spec in body should be at least 2 chars long'],
    [{ type: 'string', pattern: '^a' }, 'b', `spec: Invalid value: "b": spec in body should match '^a'`],
    [{ type: 'string', format: 'ipv4' }, 'x', 'spec: Invalid value: "x": spec in body must be of type ipv4: "x"'],
    [{ type: 'array', items: {}, maxItems: 1 }, [1, 2], 'spec: Too many: 2: must have at most 1 items'],
    [
      { type: 'array', items: {}, minItems: 1 },
      [],
      'spec: Invalid value: 0: spec in body should have at least 1 items',
    ],
    [{ type: 'object', required: ['a'] }, {}, 'spec.a: Required value'],
    [{ type: 'string', enum: ['a'] }, 'b', 'spec: Unsupported value: "b": supported values: "a"'],
    [
      { oneOf: [{ required: ['a'] }, { required: ['b'] }] },
      {},
      'spec: Invalid value: "": "spec" must validate one and only one schema (oneOf). Found none valid',
    ],
    [{ not: { required: ['a'] } }, { a: 1 }, 'spec: Invalid value: "": "spec" must not validate the schema (not)'],
  ])('says of %j what is wrong with %j', (schema, value, expected) => {
    expect(texts(schema, value)).toEqual([expected])
  })

  it('takes integers and strings where either may stand, and null where that may', () => {
    expect(texts({ 'x-kubernetes-int-or-string': true }, 1)).toEqual([])
    expect(texts({ 'x-kubernetes-int-or-string': true }, 'a')).toEqual([])
    expect(texts({ 'x-kubernetes-int-or-string': true }, true)).toHaveLength(1)
    expect(texts({ type: 'string', nullable: true }, null)).toEqual([])
  })

  it('finds elements of sets that are there twice', () => {
    const set: JsonSchema = { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' }
    expect(duplicateProblems(set, ['a', 'b', 'a'], 'spec.s')).toMatchObject([{ field: 'spec.s[2]' }])
  })
})

describe('rules of schemas', () => {
  const schema: JsonSchema = {
    type: 'object',
    properties: {
      items: {
        type: 'array',
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['name'],
        items: {
          type: 'object',
          properties: {
            name: { type: 'string' },
            size: {
              type: 'integer',
              'x-kubernetes-validations': [{ rule: 'self >= oldSelf', messageExpression: '"was " + string(oldSelf)' }],
            },
          },
        },
      },
    },
    'x-kubernetes-validations': [{ rule: 'size(self.items) < 3' }],
  }

  it('compare elements of keyed lists with what they were, wherever they stand', () => {
    const old: Json = {
      items: [
        { name: 'a', size: 1 },
        { name: 'b', size: 5 },
      ],
    }
    const value: Json = {
      items: [
        { name: 'b', size: 4 },
        { name: 'c', size: 0 },
      ],
    }
    expect(ruleProblems(schema, { value, old })).toEqual([
      { reason: 'FieldValueInvalid', field: 'items[0].size', message: 'Invalid value: 4: was 5' },
    ])
  })

  it('are named by themselves when they have no message', () => {
    const value: Json = { items: [{ name: 'a' }, { name: 'b' }, { name: 'c' }] }
    expect(ruleProblems(schema, { value, old: undefined })[0]?.message).toBe(
      'Invalid value: "object": failed rule: size(self.items) < 3',
    )
  })
})

describe('objects of custom kinds', () => {
  it('lose what the schema does not name, except where it keeps unknown fields', () => {
    const schema: JsonSchema = {
      type: 'object',
      properties: {
        spec: {
          type: 'object',
          properties: { free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
        },
        map: { type: 'object', additionalProperties: { type: 'object', properties: { a: { type: 'string' } } } },
      },
    }
    const object: JsonObject = {
      kind: 'K',
      metadata: { name: 'n' },
      spec: { x: 1, free: { y: 2 } },
      map: { k: { a: '1', b: '2' } },
    }
    expect(pruneCustom(schema, object)).toEqual(['spec.x', 'map.k.b'])
    expect(object).toEqual({ kind: 'K', metadata: { name: 'n' }, spec: { free: { y: 2 } }, map: { k: { a: '1' } } })
  })

  it('get defaults where their parent is there', () => {
    const part: JsonSchema = { type: 'object', properties: { a: { type: 'integer', default: 1 } } }
    const schema: JsonSchema = {
      type: 'object',
      properties: { left: part, right: { ...part, default: {} }, list: { type: 'array', items: part } },
    }
    const object: JsonObject = { list: [{}] }
    defaultCustom(schema, object)
    expect(object).toEqual({ right: { a: 1 }, list: [{ a: 1 }] })
  })

  it('are read and written at simple JSONPaths', () => {
    const object = {
      spec: { n: 1 },
      status: {
        conditions: [
          { type: 'A', status: 'x' },
          { type: 'Ready', status: 'True' },
        ],
      },
    }
    expect(valuesAt('.status.conditions[?(@.type=="Ready")].status', object)).toEqual(['True'])
    expect(valuesAt('.status.conditions[*].type', object)).toEqual(['A', 'Ready'])
    expect(valuesAt('.status.conditions[0].type', object)).toEqual(['A'])
    expect(valuesAt('.nothing.here', object)).toEqual([])
    expect(withValueAt(object, '.spec.n', 2)).toMatchObject({ spec: { n: 2 } })
  })
})
