import { expect, test } from 'vitest'
import { REASONS } from '#libs/events'
import { type Announcement, announcementFor } from './announce.ts'

const item: Announcement = {
  tenant: 'team-a',
  hostNamespace: 'causeway-team-a',
  hostName: 'web-x-default-x-team-a',
  ref: { resource: 'pods', namespace: 'default', name: 'web' },
  object: { metadata: { name: 'web', namespace: 'default', uid: 'v1', resourceVersion: '9' } },
  reason: 'AdmissionDenied',
  message: '',
  count: 1,
  now: Date.UTC(2026, 0, 2, 3, 4, 5, 678),
}

const bodyOf = (from: Partial<Announcement>): Record<string, unknown> => {
  const write = announcementFor({ ...item, ...from })?.write
  if (write?.op !== 'announce') throw new Error('not announced')
  return write.body
}

test('an Event on the tenant’s object says what is wrong', () => {
  const announced = announcementFor({ ...item, count: 4 })
  expect(announced?.target).toMatchObject({
    tenant: 'team-a',
    side: 'virtual',
    resource: 'events',
    namespace: 'default',
  })
  expect(bodyOf({ count: 4 })).toMatchObject({
    kind: 'Event',
    metadata: { name: announced?.target.name, namespace: 'default' },
    involvedObject: { kind: 'Pod', apiVersion: 'v1', namespace: 'default', name: 'web', uid: 'v1' },
    type: 'Warning',
    reason: 'SyncFailed',
    firstTimestamp: '2026-01-02T03:04:05Z',
    lastTimestamp: '2026-01-02T03:04:05Z',
    count: 4,
  })
})

test('an Event on an object without namespace is where such Events are, and has a valid name', () => {
  const ref = { resource: 'customresourcedefinitions.apiextensions.k8s.io', namespace: '', name: 'gadgets.example.com' }
  const object = { metadata: { name: ref.name, uid: 'd1' } }
  const announced = announcementFor({ ...item, ref, object, reason: 'DefinitionDiffers', message: 'its scope differs' })
  expect(announced?.target).toMatchObject({ resource: 'events', namespace: 'default' })
  const body = bodyOf({ ref, object, reason: 'DefinitionDiffers', message: 'its scope differs' })
  expect(body['metadata']).toEqual({ name: announced?.target.name, namespace: 'default' })
  expect(body['involvedObject']).toMatchObject({ kind: 'CustomResourceDefinition', name: ref.name, uid: 'd1' })
  expect(body['involvedObject']).not.toHaveProperty('namespace')
  expect(body['message']).toMatch(/^DefinitionDiffers: .*: its scope differs$/)
})

test('a repeat is the same Event; another reason or object is another', () => {
  const nameOf = (from: Partial<Announcement>): string | undefined => announcementFor({ ...item, ...from })?.target.name
  expect(nameOf({ count: 9, message: 'other', now: 1 })).toBe(nameOf({}))
  expect(nameOf({ reason: 'Invalid' })).not.toBe(nameOf({}))
  expect(nameOf({ object: { metadata: { uid: 'v2' } } })).not.toBe(nameOf({}))
})

test.each([
  ['pods "web-x-default-x-team-a" is forbidden', 'pods "web" is forbidden'],
  ['secrets "db-x-other-x-team-a" not found in causeway-team-a.', 'secrets "db" not found in default.'],
  ['web-x-default-x-team-a-2 is made for it', 'web-2 is made for it'],
  ['causeway-team-b/web-x-default-x-team-b is another tenant’s', ': (hidden) is another tenant’s'],
  ['namespaces "causeway-team-a" and causeway-team-a-2', 'namespaces "default" and causeway-team-a-2'],
])('the API’s answer is told in the tenant’s names: %s', (message, told) => {
  expect(bodyOf({ message })['message']).toContain(told)
})

test('an answer that would tell of the operator’s side is left out', () => {
  expect(bodyOf({ reason: 'Forbidden', message: 'user causeway cannot create pods' })['message']).not.toContain('user')
})

test('a hostile answer costs little time', () => {
  const message = '-x-a'.repeat(500)
  const begun = performance.now()
  bodyOf({ message })
  expect(performance.now() - begun).toBeLessThan(50)
})

test('names of any length make valid Event names', () => {
  const long = `${'a'.repeat(199)}.${'b'.repeat(50)}`
  const name = announcementFor({ ...item, ref: { ...item.ref, name: long } })?.target.name ?? ''
  expect(name.length).toBeLessThanOrEqual(253)
  expect(name).toMatch(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/)
})

test('that all is well again is no warning', () => {
  expect(bodyOf({ reason: 'Synced' })).toMatchObject({ type: 'Normal', reason: 'Synced' })
})

test('every reason has words of its own, and every message fits an Event', () => {
  for (const reason of REASONS) {
    const { message } = bodyOf({ reason, message: 'x'.repeat(5_000) }) as { message: string }
    expect(message.startsWith(`${reason}: `)).toBe(true)
    expect(message.length).toBeLessThanOrEqual(1_024)
  }
})

test('an object that does not say its kind has no Event', () => {
  const ref = { resource: 'widgets.example.com', namespace: 'default', name: 'n' }
  expect(announcementFor({ ...item, ref })).toBeUndefined()
})
