import { describe, expect, it } from 'vitest'

import type { JsonObject } from '#libs/kube-model'

import { applyStrategicMergePatch } from './strategic-patch.ts'

const DEPLOYMENT = { group: 'apps', version: 'v1', kind: 'Deployment' }
const CONFIG_MAP = { group: '', version: 'v1', kind: 'ConfigMap' }
const SERVICE = { group: '', version: 'v1', kind: 'Service' }

const withPod = (spec: JsonObject): JsonObject => ({ spec: { template: { spec } } })

const PODS: JsonObject = {
  containers: [
    {
      name: 'a',
      image: 'a:1',
      args: ['x'],
      env: [
        { name: 'X', value: '1' },
        { name: 'Y', value: '2' },
      ],
    },
    { name: 'b', image: 'b:1' },
  ],
  volumes: [{ name: 'v', emptyDir: {} }],
  tolerations: [{ key: 'k', operator: 'Exists' }],
}

/** The containers after a patch of the pod template. */
function patchedPod(patch: JsonObject): JsonObject {
  const result = applyStrategicMergePatch(withPod(PODS), withPod(patch), DEPLOYMENT)
  const { template } = result['spec'] as { template: { spec: JsonObject } }
  return template.spec
}

const names = (list: unknown): string[] => (list as { name: string }[]).map(({ name }) => name)

describe('applyStrategicMergePatch', () => {
  it('merges list elements by the key of the schema', () => {
    expect(patchedPod({ containers: [{ name: 'b', image: 'b:2' }] })['containers']).toEqual([
      (PODS['containers'] as JsonObject[])[0],
      { name: 'b', image: 'b:2' },
    ])
  })

  it('puts new elements first', () => {
    expect(names(patchedPod({ containers: [{ name: 'n', image: 'n:1' }] })['containers'])).toEqual(['n', 'a', 'b'])
  })

  it('merges nested lists and keeps what the patch does not name', () => {
    const { containers } = patchedPod({
      containers: [
        {
          name: 'a',
          env: [
            { name: 'X', value: '9' },
            { name: 'Z', value: '3' },
          ],
        },
      ],
    })
    expect((containers as JsonObject[])[0]).toMatchObject({
      image: 'a:1',
      env: [
        { name: 'X', value: '9' },
        { name: 'Z', value: '3' },
        { name: 'Y', value: '2' },
      ],
    })
  })

  it('replaces lists without a merge key', () => {
    const pod = patchedPod({ tolerations: [{ key: 'o' }], containers: [{ name: 'a', args: ['z'] }] })
    expect(pod['tolerations']).toEqual([{ key: 'o' }])
    expect((pod['containers'] as JsonObject[])[0]?.['args']).toEqual(['z'])
  })

  it.each([
    ['$patch: delete removes an element', { containers: [{ name: 'a', $patch: 'delete' }] }, ['b']],
    ['$patch: replace replaces the list', { containers: [{ name: 'z' }, { $patch: 'replace' }] }, ['z']],
    ['$setElementOrder sorts', { '$setElementOrder/containers': [{ name: 'b' }, { name: 'a' }] }, ['b', 'a']],
  ])('%s', (_, patch, expected) => {
    expect(names(patchedPod(patch)['containers'])).toEqual(expected)
  })

  it('keeps only the keys that $retainKeys names', () => {
    const { volumes } = patchedPod({
      volumes: [{ $retainKeys: ['name', 'hostPath'], name: 'v', hostPath: { path: '/x' } }],
    })
    expect(volumes).toEqual([{ name: 'v', hostPath: { path: '/x' } }])
  })

  it('merges lists of scalars as sets and deletes from them', () => {
    const metadata = { finalizers: ['a', 'b'] }
    expect(applyStrategicMergePatch({ metadata }, { metadata: { finalizers: ['c'] } }, CONFIG_MAP)).toEqual({
      metadata: { finalizers: ['c', 'a', 'b'] },
    })
    const removal = { metadata: { '$deleteFromPrimitiveList/finalizers': ['b'] } }
    expect(applyStrategicMergePatch({ metadata }, removal, CONFIG_MAP)).toEqual({ metadata: { finalizers: ['a'] } })
  })

  it('replaces a map when told to', () => {
    const patch = { spec: { selector: { $patch: 'replace', only: 'this' } } }
    expect(applyStrategicMergePatch({ spec: { selector: { a: 'b' } } }, patch, SERVICE)).toEqual({
      spec: { selector: { only: 'this' } },
    })
  })

  it('leaves out nulls and directives of fields that are new', () => {
    const patch = { data: { a: null, b: '1', $patch: 'merge' } }
    expect(applyStrategicMergePatch({}, patch, CONFIG_MAP)).toEqual({ data: { b: '1' } })
  })

  it.each([
    [
      'an element without its key',
      { containers: [{ image: 'x' }] },
      'map: map[image:x] does not contain declared merge key: name',
    ],
    [
      'an unknown directive',
      { $patch: 'bogus', containers: [] },
      'unknown patch type: bogus in map: map[$patch:bogus containers:[]]',
    ],
    [
      'elements outside $setElementOrder',
      { '$setElementOrder/containers': [{ name: 'b' }], containers: [{ name: 'a', image: 'x' }] },
      "The order in patch list:\n[map[image:x name:a]]\n doesn't match $setElementOrder list:\n[map[name:b]]\n",
    ],
    [
      'a map in place of a list',
      { containers: { name: 'x' } },
      ' "" is invalid: patch: Invalid value: "map[spec:map[template:map[spec:map[containers:map[name:x]]]]]": cannot restore slice from map',
    ],
  ])('refuses %s', (_, patch, message) => {
    expect(() => patchedPod(patch)).toThrow(message)
  })

  it.each(['{"__proto__":{"polluted":true}}', '{"metadata":{"constructor":{"prototype":{"polluted":true}}}}'])(
    'cannot reach what all objects share: %s',
    (patch) => {
      applyStrategicMergePatch({ metadata: { name: 'a' } }, JSON.parse(patch), CONFIG_MAP)
      expect(({} as { polluted?: boolean }).polluted).toBeUndefined()
    },
  )

  it('does not change the document or the patch', () => {
    const document = withPod(PODS)
    const patch = withPod({ '$setElementOrder/containers': [{ name: 'b' }], containers: [{ name: 'b', image: 'x' }] })
    const before = JSON.stringify([document, patch])
    applyStrategicMergePatch(document, patch, DEPLOYMENT)
    expect(JSON.stringify([document, patch])).toBe(before)
  })
})
