import { describe, expect, it } from 'vitest'

import { base64Fault, decodeProblems } from './decode.ts'

const CONFIG_MAP = { group: '', version: 'v1', kind: 'ConfigMap' }
const POD = { group: '', version: 'v1', kind: 'Pod' }

describe('decodeProblems', () => {
  it('lists unknown fields in the order of the document', () => {
    const pod = { metadata: { name: 'a', bogus: 1 }, spec: { containers: [{ name: 'c', imagee: 'x' }] }, extra: 1 }
    expect(decodeProblems(POD, pod as never)).toEqual({
      unknown: ['metadata.bogus', 'spec.containers[0].imagee', 'extra'],
      typeErrors: [],
    })
  })

  it.each([
    [
      POD,
      { spec: { terminationGracePeriodSeconds: 'x' } },
      'json: cannot unmarshal string into Go struct field PodSpec.spec.terminationGracePeriodSeconds of type int64',
    ],
    [
      CONFIG_MAP,
      { metadata: { labels: { k: 5 } } },
      'json: cannot unmarshal number into Go struct field ObjectMeta.metadata.labels of type string',
    ],
    [
      CONFIG_MAP,
      { data: 5 },
      'json: cannot unmarshal number into Go struct field ConfigMap.data of type map[string]string',
    ],
    [CONFIG_MAP, { binaryData: { b: 'not base64!' } }, 'illegal base64 data at input byte 3'],
    [
      POD,
      { spec: { containers: [{ resources: { limits: { cpu: 'lots' } } }] } },
      "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
    ],
  ])('names a value of the wrong type', (gvk, object, message) => {
    expect(decodeProblems(gvk, object as never).typeErrors).toEqual([message])
  })

  it('accepts anything of a kind it does not know', () => {
    const widget = { group: 'kc.example', version: 'v1', kind: 'Widget' }
    expect(decodeProblems(widget, { metadata: {}, spec: { any: 1 } })).toEqual({ unknown: [], typeErrors: [] })
  })
})

describe('base64Fault', () => {
  it.each([
    ['eA==', undefined],
    ['***', 0],
    ['', undefined],
    ['abc', 0],
    ['abcdef', 4],
  ])('reads %j', (text, expected) => {
    expect(base64Fault(text)).toBe(expected)
  })
})
