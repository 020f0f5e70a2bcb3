import { describe, expect, test } from 'vitest'
import { RESOURCES, type JsonObject, type KubeObject, type ObjectRef } from '#libs/kube-model'
import { hostMetadata, refOf } from '../../metadata.ts'
import { hostName } from '../../names.ts'
import { TENANT, deepFreeze, podOf } from '../../testing/index.ts'
import { eventForTenant, subjectOf } from './translate.ts'

const original = podOf('web', { metadata: { uid: 'pod-uid', resourceVersion: '12' } })
const metadata = hostMetadata(refOf(original, 'pods'), original, { tenant: TENANT })
const copy: KubeObject = { ...original, metadata: { ...metadata, uid: 'host-uid' }, spec: { nodeName: 'worker-1' } }
const copyName = copy.metadata.name ?? ''
const long = `settings-${'x'.repeat(60)}`

function reportOf(fields: JsonObject): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name: `${copyName}.17a`, namespace: TENANT.hostNamespace },
    involvedObject: { kind: 'Pod', apiVersion: 'v1', namespace: TENANT.hostNamespace, name: copyName, uid: 'host-uid' },
    reason: 'Started',
    message: 'Started container main',
    type: 'Normal',
    source: { component: 'kubelet', host: 'worker-1' },
    firstTimestamp: '2026-01-01T00:00:00Z',
    lastTimestamp: '2026-01-01T00:00:05Z',
    count: 3,
    ...fields,
  }
}

const refer = (name: string): ObjectRef => ({ resource: 'configmaps', namespace: 'default', name })

function told(fields: JsonObject, references: ObjectRef[] = []): KubeObject {
  const event = eventForTenant({
    report: deepFreeze(reportOf(fields)),
    tenant: TENANT,
    original,
    copy,
    resource: RESOURCES.pods,
    references,
  })
  if (event === undefined) throw new Error('it is not told')
  return event
}

describe('an Event of the host about a copy', () => {
  test('is about the tenant’s object, under its name', () => {
    expect(told({ involvedObject: { kind: 'Pod', name: copyName, fieldPath: 'spec.containers{main}' } })).toEqual({
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name: 'web.17a', namespace: 'default' },
      involvedObject: {
        apiVersion: 'v1',
        kind: 'Pod',
        namespace: 'default',
        name: 'web',
        uid: 'pod-uid',
        resourceVersion: '12',
        fieldPath: 'spec.containers{main}',
      },
      type: 'Normal',
      reason: 'Started',
      message: 'Started container main',
      source: { component: 'kubelet', host: 'worker-1' },
      firstTimestamp: '2026-01-01T00:00:00Z',
      lastTimestamp: '2026-01-01T00:00:05Z',
      count: 3,
    })
  })

  test('names nothing of the host', () => {
    const hashed = hostName(refer(long), TENANT.name)
    const message =
      `pod ${TENANT.hostNamespace}/${copyName}: configmap "${hashed}" not found, nor secret "db-x-default-x-team-a". ` +
      `Back-off of ${copyName}_${TENANT.hostNamespace}(host-uid) on ${copyName}.`
    expect(told({ message }, [refer(long)]).message).toBe(
      `pod default/web: configmap "${long}" not found, nor secret "db". Back-off of web_default(pod-uid) on web.`,
    )
  })

  test('tells of a machine of the host only where the pod runs on it', () => {
    const event = told({
      source: { component: 'scheduler', host: 'control-plane-1' },
      reportingComponent: 'default-scheduler',
      reportingInstance: 'default-scheduler-control-plane-1',
    })
    expect(JSON.stringify(event)).not.toContain('control-plane-1')
    expect(event.reportingComponent).toBe('default-scheduler')
  })

  test('of the newer form has times and a count of the older one', () => {
    const event = told({
      source: {},
      reportingComponent: 'default-scheduler',
      firstTimestamp: null,
      lastTimestamp: null,
      count: null,
      eventTime: '2026-01-01T00:00:01.123456Z',
      series: { count: 7, lastObservedTime: '2026-01-01T00:01:00.5Z' },
    })
    expect(event).toMatchObject({
      source: { component: 'default-scheduler' },
      firstTimestamp: '2026-01-01T00:00:01Z',
      lastTimestamp: '2026-01-01T00:01:00Z',
      count: 7,
    })
    expect(event).not.toHaveProperty('eventTime')
  })

  test('of another name than usual has one that follows from it', () => {
    const name = (event: KubeObject): string => event.metadata.name ?? ''
    const odd = told({ metadata: { name: 'something-else' } })
    expect(name(odd)).toMatch(/^web\.[0-9a-f]{16}$/)
    expect(name(told({ metadata: { name: 'another' } }))).not.toBe(name(odd))
  })
})

test('an Event about an object without namespace is in the namespace that such ones are in', () => {
  const virtual = { apiVersion: 'v1', kind: 'PersistentVolume', metadata: { name: 'disk', uid: 'volume-uid' } }
  const stamps = hostMetadata(refOf(virtual, 'persistentvolumes'), virtual, { tenant: TENANT })
  const name = stamps.name ?? ''
  const event = eventForTenant({
    report: reportOf({
      metadata: { name: `${name}.17a`, namespace: 'default' },
      involvedObject: { kind: 'PersistentVolume', apiVersion: 'v1', name, uid: 'host-uid' },
      message: `cannot delete ${name}`,
    }),
    tenant: TENANT,
    original: virtual,
    copy: { ...virtual, metadata: { ...stamps, uid: 'host-uid' } },
    resource: RESOURCES.persistentvolumes,
    references: [],
  })
  expect(event).toMatchObject({ metadata: { name: 'disk.17a', namespace: 'default' }, message: 'cannot delete disk' })
  expect(event?.involvedObject).toEqual({
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    name: 'disk',
    uid: 'volume-uid',
  })
})

test('what Causeway itself says does not come back', () => {
  expect(subjectOf(reportOf({ source: { component: 'causeway' } }))).toBeUndefined()
  expect(subjectOf(reportOf({}))).toEqual({
    kind: 'Pod',
    group: '',
    namespace: TENANT.hostNamespace,
    name: copyName,
    uid: 'host-uid',
  })
})
