import { describe, expect, it } from 'vitest'

import { cloneJson } from '#libs/kernel'
import type { JsonObject, KubeObject } from '#libs/kube-model'

import { trackManagedFields } from './track.ts'
import type { Writer } from './track.ts'

const writer = (manager: string, extra: Partial<Writer> = {}): Writer => ({
  manager,
  operation: 'Update',
  time: '2026-01-01T00:00:00Z',
  apiVersion: 'v1',
  ...extra,
})

function configMap(data: Record<string, string>): KubeObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data }
}

/** The next version of an object, written by a manager. */
function write(previous: KubeObject | undefined, next: KubeObject, by: Writer): KubeObject {
  const object = cloneJson(next)
  if (previous !== undefined && object.metadata.managedFields === undefined) {
    object.metadata.managedFields = cloneJson(previous.metadata.managedFields ?? [{ old: true }])
  }
  trackManagedFields(object, previous, by)
  return object
}

const owned = (object: KubeObject): Record<string, unknown> =>
  Object.fromEntries(
    (object.metadata.managedFields ?? []).map((entry) => [entry['manager'] as string, entry['fieldsV1']]),
  )

describe('trackManagedFields', () => {
  const made = write(undefined, configMap({ a: '1' }), writer('maker'))

  it('gives a new object to its maker', () => {
    expect(made.metadata.managedFields).toEqual([
      {
        manager: 'maker',
        operation: 'Update',
        apiVersion: 'v1',
        time: '2026-01-01T00:00:00Z',
        fieldsType: 'FieldsV1',
        fieldsV1: { 'f:data': { '.': {}, 'f:a': {} } },
      },
    ])
  })

  it('gives what another manager adds to that one', () => {
    expect(owned(write(made, configMap({ a: '1', b: '2' }), writer('other')))).toEqual({
      maker: { 'f:data': { '.': {}, 'f:a': {} } },
      other: { 'f:data': { 'f:b': {} } },
    })
  })

  it('takes what changes from its former manager', () => {
    expect(owned(write(made, configMap({ a: '9' }), writer('other')))).toEqual({
      maker: { 'f:data': {} },
      other: { 'f:data': { 'f:a': {} } },
    })
  })

  it('forgets a manager whose fields are all gone', () => {
    const { data: _, ...without } = configMap({})
    expect(owned(write(made, without as KubeObject, writer('other')))).toEqual({})
  })

  it('leaves everything as it was when nothing changes', () => {
    const same = write(made, configMap({ a: '1' }), writer('other', { time: '2027-01-01T00:00:00Z' }))
    expect(same.metadata.managedFields).toEqual(made.metadata.managedFields)
  })

  it('names list elements by their keys and leaves out what all objects have', () => {
    const spec: JsonObject = {
      containers: [{ name: 'c', image: 'i', ports: [{ containerPort: 80, protocol: 'TCP' }], resources: {} }],
      nodeSelector: { a: 'b' },
      securityContext: {},
    }
    const pod = write(undefined, { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec }, writer('m'))
    expect(owned(pod)['m']).toEqual({
      'f:spec': {
        'f:containers': {
          'k:{"name":"c"}': {
            '.': {},
            'f:image': {},
            'f:name': {},
            'f:ports': {
              '.': {},
              'k:{"containerPort":80,"protocol":"TCP"}': { '.': {}, 'f:containerPort': {}, 'f:protocol': {} },
            },
            'f:resources': {},
          },
        },
        'f:nodeSelector': {},
        'f:securityContext': {},
      },
    })
  })

  it('keeps an entry of its own for a subresource', () => {
    const pod: KubeObject = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'p', labels: { l: '1' } },
      spec: {},
      status: {},
    }
    const first = write(undefined, pod, writer('m'))
    const second = write(first, { ...pod, status: { phase: 'Running' } }, writer('m', { subresource: 'status' }))
    expect(second.metadata.managedFields).toMatchObject([
      { manager: 'm', fieldsV1: { 'f:metadata': { 'f:labels': { '.': {}, 'f:l': {} } } } },
      { manager: 'm', subresource: 'status', fieldsV1: { 'f:status': { 'f:phase': {} } } },
    ])
  })

  it('ends when a client clears the list', () => {
    const cleared = configMap({ a: '1' })
    cleared.metadata.managedFields = [{}]
    const object = write(made, cleared, writer('other'))
    expect(object.metadata.managedFields).toBeUndefined()
    const later = configMap({ a: '2' })
    trackManagedFields(later, object, writer('other'))
    expect(later.metadata.managedFields).toBeUndefined()
  })
})
