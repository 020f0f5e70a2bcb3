import { expect, test } from 'vitest'
import type { JsonObject, KubeObject } from '#libs/kube-model'
import { deepFreeze } from '../testing/index.ts'
import { type Crossing, definitionDifference } from './definition-difference.ts'

const toHost: Crossing = { toHost: true, fromHost: false }
const fromHost: Crossing = { toHost: false, fromHost: true }
const text: JsonObject = { type: 'string' }
const anything: JsonObject = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }

function object(properties: JsonObject, more: JsonObject = {}): JsonObject {
  return { type: 'object', properties, ...more }
}

function definition(schema: JsonObject, more: JsonObject = {}): KubeObject {
  const versions = [{ name: 'v1', served: true, schema: { openAPIV3Schema: schema } }]
  return deepFreeze({
    metadata: { name: 'gadgets.example.com' },
    spec: { scope: 'Namespaced', names: { kind: 'Gadget' }, versions, ...more },
  })
}

function ofSpec(spec: JsonObject, status: JsonObject = object({})): KubeObject {
  return definition(object({ apiVersion: text, kind: text, metadata: { type: 'object' }, spec, status }))
}

test.each<[string, KubeObject, KubeObject]>([
  ['the same', ofSpec(object({ size: text })), ofSpec(object({ size: text }))],
  ['more on the host', ofSpec(object({ size: text })), ofSpec(object({ size: text, color: text }))],
  [
    'other words for the same',
    ofSpec(object({ size: { ...text, description: 'how large' } })),
    ofSpec(object({ size: text })),
  ],
  ['a host that takes anything', ofSpec(object({ size: text })), ofSpec(anything)],
  ['a wider number', ofSpec(object({ size: { type: 'integer' } })), ofSpec(object({ size: { type: 'number' } }))],
  ['no schema on one side', ofSpec(object({ size: text })), definition({})],
  [
    'free keys instead of a field',
    ofSpec(object({ size: text })),
    ofSpec({ type: 'object', additionalProperties: text }),
  ],
  [
    'a field that is required and has a default',
    ofSpec(object({ size: text })),
    ofSpec(object({ size: text, color: { ...text, default: 'red' } }, { required: ['color'] })),
  ],
])('lets objects cross whole: %s', (_what, tenant, host) => {
  expect(definitionDifference(tenant, host, toHost)).toBeUndefined()
})

test.each<[string, KubeObject, KubeObject]>([
  [
    'in version v1 the host’s has no field spec.color',
    ofSpec(object({ size: text, color: text })),
    ofSpec(object({ size: text })),
  ],
  [
    'in version v1 spec.size is not string but integer on the host',
    ofSpec(object({ size: text })),
    ofSpec(object({ size: { type: 'integer' } })),
  ],
  [
    'in version v1 the host’s has no field spec.parts[].name',
    ofSpec(object({ parts: { type: 'array', items: object({ name: text }) } })),
    ofSpec(object({ parts: { type: 'array', items: object({}) } })),
  ],
  [
    'in version v1 spec.color is required on the host alone',
    ofSpec(object({ size: text })),
    ofSpec(object({ size: text, color: text }, { required: ['color'] })),
  ],
  ['in version v1 not any field may be in spec on the host', ofSpec(anything), ofSpec(object({ size: text }))],
  [
    'in version v1 the host’s has no free keys in spec',
    ofSpec({ type: 'object', additionalProperties: text }),
    ofSpec(object({ size: text })),
  ],
  [
    'in version v1 this cluster’s has no field status.ready',
    ofSpec(object({})),
    ofSpec(object({}), object({ ready: text })),
  ],
  ['its kind is Gadget here and Gizmo on the host', ofSpec(text), definition({}, { names: { kind: 'Gizmo' } })],
  ['its scope is Namespaced here and Cluster on the host', ofSpec(text), definition({}, { scope: 'Cluster' })],
  [
    'it serves v1 here and v2, v2beta1 on the host',
    ofSpec(text),
    definition({}, { versions: ['v2beta1', 'v2'].map((name) => ({ name, served: true })) }),
  ],
])('tells what is lost on the way to the host: %s', (told, tenant, host) => {
  expect(definitionDifference(tenant, host, toHost)).toBe(told)
})

test('what the host shows must fit in the tenant’s definition, and that alone', () => {
  const [narrow, wide] = [ofSpec(object({ size: text })), ofSpec(object({ size: text, color: text }))]
  expect(definitionDifference(narrow, wide, fromHost)).toBe('in version v1 this cluster’s has no field spec.color')
  expect(definitionDifference(wide, narrow, fromHost)).toBeUndefined()
})
