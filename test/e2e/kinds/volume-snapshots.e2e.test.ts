import { afterAll, beforeAll, expect, test } from 'vitest'
import { type JsonObject, type KnownResource, type KubeObject, RESOURCES, apiVersionOf } from '#libs/kube-model'
import type { Ref } from '../../harness/cluster.ts'
import { configure } from '../../harness/configure.ts'
import { define } from '../../harness/definitions.ts'
import { unique } from '../../harness/objects.ts'
import { type Tenant, type World, openWorld } from '../../harness/world.ts'

/* VolumeSnapshots are custom resources that each cluster has or has not: here both sides have them. */

const SNAPSHOTS = 'volumesnapshots.snapshot.storage.k8s.io'
const CONTENTS = 'volumesnapshotcontents.snapshot.storage.k8s.io'
const CLASSES = 'volumesnapshotclasses.snapshot.storage.k8s.io'
const INSTALLED = ([SNAPSHOTS, CONTENTS, CLASSES] as const).map((token) => RESOURCES[token])

let world: World
beforeAll(async () => {
  world = await openWorld({ separate: false })
  await Promise.all([world.host, tenant().cluster].map((cluster) => define(cluster, INSTALLED)))
  const on = { enabled: true }
  await configure(world.up, tenant().name, {
    sync: {
      toHost: { volumeSnapshots: on, volumeSnapshotContents: on },
      fromHost: { volumeSnapshotClasses: { ...on, selector: { matchLabels: { shown: 'yes' } } } },
    },
  })
})
afterAll(() => world?.close())

const tenant = (): Tenant => world.tenants[0]
const copyOf = (ref: Ref): { namespace: string; name: string } => tenant().copyOf(ref)

function objectOf(kind: KnownResource, metadata: KubeObject['metadata'], fields: JsonObject): KubeObject {
  return { apiVersion: apiVersionOf(RESOURCES[kind]), kind: RESOURCES[kind].kind, metadata, ...fields }
}

/** What the host's snapshot controller and driver write. */
async function report(kind: typeof SNAPSHOTS | typeof CONTENTS, ref: Ref, status: JsonObject): Promise<void> {
  await world.host.client.patch(RESOURCES[kind], ref, { status }, { type: 'merge', subresource: 'status' })
}

const isReady = ({ status }: KubeObject): boolean => (status as JsonObject | undefined)?.['readyToUse'] === true

async function makeClaim(namespace: string, name: string, more: JsonObject = {}): Promise<void> {
  const requests = { storage: '1Gi' }
  const spec = { accessModes: ['ReadWriteOnce'], storageClassName: '', resources: { requests }, ...more }
  await tenant().cluster.create(objectOf('persistentvolumeclaims', { namespace, name }, { spec }))
  await world.host.until('persistentvolumeclaims', copyOf({ namespace, name }), () => true)
}

test('a snapshot of a claim is taken on the host, and another claim is made from it', async () => {
  const { host } = world
  const { cluster } = tenant()
  const namespace = await tenant().namespace()
  const ref = { namespace, name: 'nightly' }
  await makeClaim(namespace, 'data')
  const spec = { source: { persistentVolumeClaimName: 'data' } }
  await cluster.create(objectOf(SNAPSHOTS, { ...ref, labels: { app: 'db' } }, { spec }))
  const copy = await host.until(SNAPSHOTS, copyOf(ref), ({ metadata }) => metadata.labels?.['app'] === 'db')
  expect(copy['spec']).toEqual({ source: { persistentVolumeClaimName: copyOf({ namespace, name: 'data' }).name } })

  const status = { readyToUse: true, restoreSize: '1Gi', creationTime: '2026-01-01T00:00:00Z' }
  await report(SNAPSHOTS, copyOf(ref), { ...status, boundVolumeSnapshotContentName: 'snapcontent-of-the-host' })
  const ready = await cluster.until(SNAPSHOTS, ref, isReady)
  expect(ready['status']).toEqual(status)
  await cluster.patch(SNAPSHOTS, ref, { metadata: { labels: { kept: 'yes' } } })
  await host.until(SNAPSHOTS, copyOf(ref), ({ metadata }) => metadata.labels?.['kept'] === 'yes')

  const dataSource = { apiGroup: 'snapshot.storage.k8s.io', kind: 'VolumeSnapshot', name: 'nightly' }
  await makeClaim(namespace, 'restored', { dataSource })
  const restored = await host.get('persistentvolumeclaims', copyOf({ namespace, name: 'restored' }))
  expect(restored['spec']).toMatchObject({ dataSource: { ...dataSource, name: copyOf(ref).name } })

  await cluster.delete(SNAPSHOTS, ref)
  await host.untilGone(SNAPSHOTS, copyOf(ref))
  await cluster.untilGone(SNAPSHOTS, ref)
})

test('a snapshot that is made anew is another, and one that the host deletes is deleted', async () => {
  const { host } = world
  const { cluster } = tenant()
  const namespace = await tenant().namespace()
  const ref = { namespace, name: 'again' }
  const made = objectOf(SNAPSHOTS, ref, { spec: { source: { persistentVolumeClaimName: 'data' } } })
  await makeClaim(namespace, 'data')
  await cluster.create(made)
  const first = await host.until(SNAPSHOTS, copyOf(ref), () => true)
  await report(SNAPSHOTS, copyOf(ref), { readyToUse: true })
  await cluster.until(SNAPSHOTS, ref, isReady)
  await cluster.delete(SNAPSHOTS, ref)
  await cluster.untilGone(SNAPSHOTS, ref)
  await cluster.create(made)
  const second = await host.until(SNAPSHOTS, copyOf(ref), ({ metadata }) => metadata.uid !== first.metadata.uid)
  expect(second['status']).toBeUndefined()

  await host.delete(SNAPSHOTS, copyOf(ref))
  await cluster.untilGone(SNAPSHOTS, ref)
  expect(await host.find(SNAPSHOTS, copyOf(ref))).toBeUndefined()
})

test('a content that the tenant has already is bound to its snapshot on the host', async () => {
  const { host } = world
  const { cluster } = tenant()
  const namespace = await tenant().namespace()
  const [ref, content] = [{ namespace, name: 'imported' }, { name: unique('taken') }]
  const fields = { driver: 'example.com/disk', deletionPolicy: 'Retain', source: { snapshotHandle: 'snap-1' } }
  await cluster.create(objectOf(CONTENTS, content, { spec: { ...fields, volumeSnapshotRef: ref } }))
  await cluster.create(objectOf(SNAPSHOTS, ref, { spec: { source: { volumeSnapshotContentName: content.name } } }))
  const contentCopy = { name: copyOf(content).name }
  const onHost = await host.until(CONTENTS, contentCopy, () => true)
  expect(onHost['spec']).toMatchObject({ ...fields, volumeSnapshotRef: copyOf(ref) })
  const copy = await host.until(SNAPSHOTS, copyOf(ref), () => true)
  expect(copy['spec']).toEqual({ source: { volumeSnapshotContentName: contentCopy.name } })

  await report(CONTENTS, contentCopy, { readyToUse: true, snapshotHandle: 'snap-1' })
  await cluster.until(CONTENTS, content, isReady)
  await report(SNAPSHOTS, copyOf(ref), { readyToUse: true, boundVolumeSnapshotContentName: contentCopy.name })
  const ready = await cluster.until(SNAPSHOTS, ref, isReady)
  expect(ready['status']).toMatchObject({ boundVolumeSnapshotContentName: content.name })

  await cluster.delete(SNAPSHOTS, ref)
  await cluster.delete(CONTENTS, content)
  await host.untilGone(SNAPSHOTS, copyOf(ref))
  await host.untilGone(CONTENTS, contentCopy)
})

test('classes are shown by the selector, and a snapshot of a class that is not shown waits', async () => {
  const { host } = world
  const { cluster } = tenant()
  const namespace = await tenant().namespace()
  const [ref, name] = [{ namespace, name: 'waiting' }, unique('class')]
  await makeClaim(namespace, 'data')
  await host.create(objectOf(CLASSES, { name }, { driver: 'example.com/disk', deletionPolicy: 'Delete' }))
  const spec = { volumeSnapshotClassName: name, source: { persistentVolumeClaimName: 'data' } }
  await cluster.create(objectOf(SNAPSHOTS, ref, { spec }))
  await cluster.untilAll('events', namespace, (events) =>
    events.some(({ message }) => String(message).includes(`there is no VolumeSnapshotClass "${name}"`)),
  )
  expect(await host.find(SNAPSHOTS, copyOf(ref))).toBeUndefined()
  await host.patch(CLASSES, { name }, { metadata: { labels: { shown: 'yes' } } })
  await cluster.until(CLASSES, { name }, ({ driver }) => driver === 'example.com/disk')
  const copy = await host.until(SNAPSHOTS, copyOf(ref), () => true)
  expect(copy['spec']).toMatchObject({ volumeSnapshotClassName: name })
  await host.delete(CLASSES, { name })
  await cluster.untilGone(CLASSES, { name })
})
