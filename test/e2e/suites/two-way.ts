import { expect, test } from 'vitest'
import { type KubeObject, RESOURCES } from '#libs/kube-model'
import type { KindName } from '../../harness/cluster.ts'
import { configMapOf, isRunning, podOf, secretOf } from '../../harness/objects.ts'
import { deleteProjections } from '../../harness/projections.ts'
import type { Restartable } from '../config.e2e.test.ts'

const encode = (value: string): string => Buffer.from(value).toString('base64')

/** How a two-way map of a kind is written and read: its labels, annotations or data. */
type Field = {
  title: string
  kind: KindName
  name: string
  patch(values: Record<string, string | null>): object
  read(object: KubeObject): Record<string, string>
}

const FIELDS: Field[] = [
  {
    title: 'labels of a pod',
    kind: 'pods',
    name: 'app',
    patch: (labels) => ({ metadata: { labels } }),
    read: ({ metadata }) => metadata.labels ?? {},
  },
  {
    title: 'annotations of a Service',
    kind: 'services',
    name: 'web',
    patch: (annotations) => ({ metadata: { annotations } }),
    read: ({ metadata }) => metadata.annotations ?? {},
  },
  {
    title: 'data of a ConfigMap',
    kind: 'configmaps',
    name: 'settings',
    patch: (data) => ({ data }),
    read: (object) => (object['data'] ?? {}) as Record<string, string>,
  },
  {
    title: 'data of a Secret',
    kind: 'secrets',
    name: 'login',
    patch: (values) => ({
      data: Object.fromEntries(
        Object.entries(values).map(([key, value]) => [key, value === null ? null : encode(value)]),
      ),
    }),
    read: (object) => {
      const data = Object.entries((object['data'] ?? {}) as Record<string, string>)
      return Object.fromEntries(data.map(([key, value]) => [key, Buffer.from(value, 'base64').toString()]))
    },
  },
]

const BEFORE = { kept: '1', tenants: '1', hosts: '1', both: '1', 'tenants-gone': '1', 'hosts-gone': '1', fight: '1' }
const IN_TENANT = { tenants: '2', both: '2', fight: 'tenant', 'tenants-gone': null, 'tenants-new': '2' }
const ON_HOST = { hosts: '2', both: '2', fight: 'host', 'hosts-gone': null, 'hosts-new': '2' }
const MERGED = { kept: '1', tenants: '2', hosts: '2', both: '2', fight: 'tenant', 'tenants-new': '2', 'hosts-new': '2' }

export function twoWayTests(current: () => Restartable): void {
  test('changed on either side or both while all is down, they are merged, whether or not the projection is there', async () => {
    const world = current()
    // In separate processes the log alone tells what both sides had agreed on.
    const forget = world.separate
    const { host } = world
    const [tenant] = world.tenants
    const { cluster } = tenant
    const namespace = await tenant.namespace()
    const ref = ({ name }: Field): { namespace: string; name: string } => ({ namespace, name })
    await cluster.create(configMapOf(namespace, 'settings', { first: '1' }))
    await cluster.create(secretOf(namespace, 'login', { first: '1' }))
    const service = { metadata: { namespace, name: 'web' }, spec: { ports: [{ port: 80 }] } }
    await cluster.create({ apiVersion: 'v1', kind: 'Service', ...service })
    await cluster.create(podOf(namespace, 'app', { configMap: 'settings', secret: 'login' }))
    await cluster.until('pods', { namespace, name: 'app' }, isRunning)
    for (const field of FIELDS) {
      // The host's come last, so that the agreement is the outcome of a write to the tenant's object.
      const { hosts, ...first } = BEFORE
      await cluster.patch(field.kind, ref(field), field.patch({ ...first, first: null }))
      await host.until(field.kind, tenant.copyOf(ref(field)), (copy) => includes(field.read(copy), first))
      await host.patch(field.kind, tenant.copyOf(ref(field)), field.patch({ hosts }))
      await cluster.until(field.kind, ref(field), (object) => includes(field.read(object), BEFORE))
    }
    // A status that comes back and a container that is added are outcomes as well, later ones, and agree on nothing.
    await podStatus(world, { namespace, name: 'app' })

    await world.up.stop()
    for (const field of FIELDS) {
      await cluster.patch(field.kind, ref(field), field.patch(IN_TENANT))
      await host.patch(field.kind, tenant.copyOf(ref(field)), field.patch(ON_HOST))
    }
    if (forget) deleteProjections(world.up)
    world.up = await world.up.restart()
    const outcomes: unknown[] = []
    for (const field of FIELDS) {
      const isMerged = (object: KubeObject): boolean => isSame(field.read(object), MERGED)
      const merged = [
        cluster.until(field.kind, ref(field), isMerged, { timeoutMs: 10_000 }),
        host.until(field.kind, tenant.copyOf(ref(field)), isMerged, { timeoutMs: 10_000 }),
      ]
      const failed = await Promise.all(merged).then(
        () => false,
        () => true,
      )
      if (failed) outcomes.push([field.title, field.read(await cluster.get(field.kind, ref(field)))])
    }
    expect(outcomes).toEqual([])
  })
}

/** Lets the host say something about a pod, and waits until the tenant sees it. */
async function podStatus(world: Restartable, ref: { namespace: string; name: string }): Promise<void> {
  const [tenant] = world.tenants
  const condition = { type: 'example.com/Noted', status: 'True' }
  await world.host.client.patch(
    RESOURCES.pods,
    tenant.copyOf(ref),
    { status: { conditions: [condition] } },
    { type: 'strategic', subresource: 'status' },
  )
  await tenant.cluster.until('pods', ref, ({ status }) => JSON.stringify(status).includes('example.com/Noted'))
}

function includes(actual: Record<string, string>, wanted: Record<string, string>): boolean {
  return Object.entries(wanted).every(([key, value]) => actual[key] === value)
}

/** Whether these keys, and of ours no others, are there: what the API and the stamps add is not looked at. */
function isSame(actual: Record<string, string>, wanted: Record<string, string>): boolean {
  return includes(actual, wanted) && !['first', 'tenants-gone', 'hosts-gone'].some((key) => key in actual)
}
