import { afterAll, beforeAll, expect, test } from 'vitest'
import { type KubeObject, RESOURCES } from '#libs/kube-model'
import { configure } from '../../harness/configure.ts'
import { type World, openWorld } from '../../harness/world.ts'

const CLAIMS = 'resourceclaims.resource.k8s.io'
const TEMPLATES = 'resourceclaimtemplates.resource.k8s.io'

let world: World
beforeAll(async () => {
  world = await openWorld({ separate: false })
  const on = { enabled: true }
  const toHost = { resourceClaims: on, resourceClaimTemplates: on }
  await configure(world.up, world.tenants[0].name, { sync: { toHost } })
})
afterAll(() => world?.close())

const spec = { devices: { requests: [{ name: 'one', exactly: { deviceClassName: 'gpu.example.com' } }] } }
const objectOf = (kind: string, namespace: string, content: object): KubeObject => ({
  apiVersion: 'resource.k8s.io/v1',
  kind,
  metadata: { namespace, name: 'gpu' },
  ...content,
})

test('a claim and its template cross, the allocation comes back, and both go with their originals', async () => {
  const { host, tenants } = world
  const tenant = tenants[0]
  const namespace = await tenant.namespace()
  const ref = { namespace, name: 'gpu' }
  const copy = tenant.copyOf(ref)
  await tenant.cluster.create(objectOf('ResourceClaimTemplate', namespace, { spec: { spec } }))
  await tenant.cluster.create(objectOf('ResourceClaim', namespace, { spec }))
  await host.until(TEMPLATES, copy, () => true)
  const claim = await host.until(CLAIMS, copy, () => true)
  expect(claim['spec']).toMatchObject(spec)

  const results = [{ request: 'one', driver: 'gpu.example.com', pool: 'n1', device: 'gpu-0' }]
  const status = { allocation: { devices: { results } } }
  await host.client.patch(RESOURCES[CLAIMS], copy, { status }, { type: 'merge', subresource: 'status' })
  await tenant.cluster.until(CLAIMS, ref, (found) => JSON.stringify(found['status'] ?? {}).includes('gpu-0'))

  for (const kind of [CLAIMS, TEMPLATES] as const) {
    await tenant.cluster.delete(kind, ref)
    await host.untilGone(kind, copy)
  }
})
