import { describe, expect, it } from 'vitest'

import type { JsonObject, KubeObject } from '#libs/kube-model'

import { ApiError } from '../api-error.ts'
import { applyServerSide } from './apply.ts'
import { trackManagedFields } from './track.ts'

const CONFIG_MAP = { group: '', version: 'v1', kind: 'ConfigMap' }
const DEPLOYMENT = { group: 'apps', version: 'v1', kind: 'Deployment' }

const options = (manager: string, extra: { force?: boolean } = {}) => ({
  manager,
  force: extra.force ?? false,
  time: '2026-01-01T00:00:00Z',
})

const configMap = (data?: Record<string, string>, labels?: Record<string, string>): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'a', ...(labels === undefined ? {} : { labels }) },
  ...(data === undefined ? {} : { data }),
})

function apply(current: KubeObject | undefined, applied: KubeObject, by: ReturnType<typeof options>): KubeObject {
  return applyServerSide(current, applied, { gvk: CONFIG_MAP, ...by })
}

function applyPod(current: KubeObject | undefined, manager: string, containers: JsonObject[]): KubeObject {
  const applied: KubeObject = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'd' },
    spec: { template: { spec: { containers } } },
  }
  return applyServerSide(current, applied, { gvk: DEPLOYMENT, ...options(manager) })
}

const owned = (object: KubeObject): Record<string, unknown> =>
  Object.fromEntries(
    (object.metadata.managedFields ?? []).map((entry) => [entry['manager'] as string, entry['fieldsV1']]),
  )

function refusal(run: () => unknown): ApiError {
  try {
    run()
  } catch (error) {
    if (error instanceof ApiError) return error
  }
  throw new Error('the apply was not refused')
}

describe('applyServerSide', () => {
  const first = apply(undefined, configMap({ a: '1', b: '2' }, { l: '1' }), options('mgr'))

  it('makes an object that belongs to the manager', () => {
    expect(first).toMatchObject(configMap({ a: '1', b: '2' }, { l: '1' }))
    expect(owned(first)).toEqual({
      mgr: { 'f:data': { 'f:a': {}, 'f:b': {} }, 'f:metadata': { 'f:labels': { 'f:l': {} } } },
    })
  })

  it('takes away what the manager does not apply any more', () => {
    const second = apply(first, configMap({ a: '3' }), options('mgr'))
    expect(second['data']).toEqual({ a: '3' })
    expect(second.metadata).not.toHaveProperty('labels')
    expect(owned(second)).toEqual({ mgr: { 'f:data': { 'f:a': {} } } })
  })

  it('shares fields that two managers give the same value', () => {
    const shared = apply(first, configMap({ a: '1' }), options('two'))
    expect(owned(shared)).toMatchObject({ mgr: { 'f:data': { 'f:a': {} } }, two: { 'f:data': { 'f:a': {} } } })
    expect(apply(shared, configMap({}), options('mgr'))['data']).toEqual({ a: '1' })
  })

  it('refuses to change what others own', () => {
    const error = refusal(() => apply(first, configMap({ a: '2', b: '3' }), options('two')))
    expect(error.code).toBe(409)
    expect(error.message).toBe('Apply failed with 2 conflicts: conflicts with "mgr":\n- .data.a\n- .data.b')
    expect(error.status.details?.causes).toContainEqual({
      reason: 'FieldManagerConflict',
      message: 'conflict with "mgr"',
      field: '.data.a',
    })
  })

  it('takes over by force', () => {
    const taken = apply(first, configMap({ a: '2' }), options('two', { force: true }))
    expect(taken['data']).toEqual({ a: '2', b: '2' })
    expect(owned(taken)).toMatchObject({ mgr: { 'f:data': { 'f:b': {} } }, two: { 'f:data': { 'f:a': {} } } })
  })

  it('names managers of updates with the version they used', () => {
    const updated = configMap({ a: '1' })
    trackManagedFields(updated, undefined, { manager: 'm', operation: 'Update', apiVersion: 'v1', time: 'then' })
    expect(refusal(() => apply(updated, configMap({ a: '2' }), options('mgr'))).message).toBe(
      'Apply failed with 1 conflict: conflict with "m" using v1: .data.a',
    )
  })

  it('merges lists by key and removes elements that nobody owns any more', () => {
    const one = applyPod(undefined, 'mgr', [
      { name: 'a', image: 'a:1', env: [{ name: 'X', value: '1' }] },
      { name: 'b', image: 'b:1' },
    ])
    const two = applyPod(one, 'other', [{ name: 'a', env: [{ name: 'Y', value: '2' }] }])
    const three = applyPod(two, 'mgr', [{ name: 'a', image: 'a:2' }])
    expect(three).toMatchObject({
      spec: { template: { spec: { containers: [{ name: 'a', image: 'a:2', env: [{ name: 'Y', value: '2' }] }] } } },
    })
  })

  it.each<[KubeObject, string]>([
    [
      { ...configMap(), bogus: 1 },
      'failed to create typed patch object (/a; /v1, Kind=ConfigMap): .bogus: field not declared in schema',
    ],
    [
      { ...configMap(), data: [1] },
      'failed to create typed patch object (/a; /v1, Kind=ConfigMap): .data: expected map, got &{[1]}',
    ],
  ])('refuses what is not of the shape of its kind', (applied, message) => {
    expect(refusal(() => apply(undefined, applied, options('mgr'))).message).toBe(message)
  })

  it('refuses two elements with one key', () => {
    const twice = [
      { name: 'a', image: 'x' },
      { name: 'a', image: 'y' },
    ]
    expect(refusal(() => applyPod(undefined, 'mgr', twice)).message).toContain('duplicate entries for key [name="a"]')
  })

  it('lets kubectl take what it applied on the client side before', () => {
    const configuration = configMap({ a: '1' })
    const before = configMap({ a: '1' })
    before.metadata.annotations = {
      'kubectl.kubernetes.io/last-applied-configuration': JSON.stringify(configuration),
    }
    trackManagedFields(before, undefined, {
      manager: 'kubectl-client-side-apply',
      operation: 'Update',
      apiVersion: 'v1',
      time: 'then',
    })
    const after = apply(before, configMap({ a: '2' }), options('kubectl'))
    expect(after['data']).toEqual({ a: '2' })
    expect(after.metadata.annotations).toEqual({
      'kubectl.kubernetes.io/last-applied-configuration':
        '{"apiVersion":"v1","data":{"a":"2"},"kind":"ConfigMap","metadata":{"name":"a"}}\n',
    })
  })
})
