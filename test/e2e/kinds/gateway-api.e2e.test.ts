import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type JsonObject, type KubeObject, RESOURCES } from '#libs/kube-model'
import { define } from '../../harness/definitions.ts'
import { configMapOf, podOf, secretOf, unique } from '../../harness/objects.ts'
import { type World, openWorld } from '../../harness/world.ts'

/* The Gateway API is custom resources: some are installed here, and one is not until the last test. */

const GATEWAYS = 'gateways.gateway.networking.k8s.io'
const ROUTES = 'httproutes.gateway.networking.k8s.io'
const GRANTS = 'referencegrants.gateway.networking.k8s.io'
const GRPC_ROUTES = 'grpcroutes.gateway.networking.k8s.io'
const CLASSES = 'gatewayclasses.gateway.networking.k8s.io'
const INSTALLED = ([GATEWAYS, ROUTES, GRANTS, CLASSES] as const).map((token) => RESOURCES[token])

let world: World
let folder: string
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'causeway-config-'))
  world = await openWorld({ separate: false })
  const { cluster, name } = world.tenants[0]
  await Promise.all([world.host, cluster].map((each) => define(each, INSTALLED)))
  const file = join(folder, 'config.json')
  const gatewayApi = { enabled: true, grpcRoutes: { enabled: true } }
  writeFileSync(file, JSON.stringify({ sync: { toHost: { gatewayApi } } }))
  const { code, stderr } = await world.up.command('tenant', 'configure', name, '--config', file)
  if (code !== 0) throw new Error(`the configuration is refused: ${stderr}`)
})
afterAll(async () => {
  await world?.close()
  rmSync(folder, { recursive: true, force: true })
})

const objectOf = (kind: keyof typeof RESOURCES, metadata: KubeObject['metadata'], spec: JsonObject): KubeObject => {
  const { group, version, kind: name } = RESOURCES[kind]
  return { apiVersion: `${group}/${version}`, kind: name, metadata, spec }
}

test('Gateways and routes live on both sides, as far as the tenant’s own grants go', async () => {
  const { host } = world
  const tenant = world.tenants[0]
  const { cluster } = tenant
  const web = await tenant.namespace()
  const data = await tenant.namespace()
  const gateway = { namespace: web, name: 'edge' }
  const route = { namespace: web, name: 'shop' }
  const shared = unique('shared')
  await host.create(objectOf(CLASSES, { name: shared }, { controllerName: 'example.com/gateway' }))
  await cluster.until(CLASSES, { name: shared }, () => true)

  await cluster.create(secretOf(web, 'certificate', { 'tls.key': 'x' }))
  const tls = { certificateRefs: [{ name: 'certificate' }] }
  const listeners = [{ name: 'https', port: 443, protocol: 'HTTPS', tls }]
  await cluster.create(objectOf(GATEWAYS, gateway, { gatewayClassName: shared, listeners }))
  const backendRefs = [{ name: 'api', namespace: data, port: 80 }]
  await cluster.create(objectOf(ROUTES, route, { parentRefs: [{ name: 'edge' }], rules: [{ backendRefs }] }))

  const onHost = await host.until(GATEWAYS, tenant.copyOf(gateway), () => true)
  const secret = { namespace: web, name: 'certificate' }
  expect(onHost['spec']).toMatchObject({
    gatewayClassName: shared,
    listeners: [{ tls: { certificateRefs: [{ name: tenant.copyOf(secret).name }] } }],
  })
  expect(await tenant.findCopy('secrets', secret)).toBeDefined()
  expect(await tenant.findCopy(ROUTES, route)).toBeUndefined()

  const grant = objectOf(
    GRANTS,
    { namespace: data, name: 'g' },
    {
      from: [{ group: 'gateway.networking.k8s.io', kind: 'HTTPRoute', namespace: web }],
      to: [{ group: '', kind: 'Service' }],
    },
  )
  await cluster.create(grant)
  const parent = { name: tenant.copyOf(gateway).name }
  const routeCopy = await host.until(ROUTES, tenant.copyOf(route), () => true)
  expect(routeCopy['spec']).toMatchObject({
    parentRefs: [parent],
    rules: [{ backendRefs: [{ name: tenant.copyOf({ namespace: data, name: 'api' }).name, port: 80 }] }],
  })
  expect(JSON.stringify(routeCopy['spec'])).not.toContain('namespace')

  const accepted = { type: 'Accepted', status: 'True', reason: 'Accepted', message: '', observedGeneration: 1 }
  const conditions = [{ ...accepted, lastTransitionTime: '2026-01-01T00:00:00Z' }]
  const parents = [{ parentRef: parent, controllerName: 'example.com/gateway', conditions }]
  const status = { type: 'merge', subresource: 'status' } as const
  await host.client.patch(RESOURCES[ROUTES], tenant.copyOf(route), { status: { parents } }, status)
  await host.client.patch(RESOURCES[GATEWAYS], tenant.copyOf(gateway), { status: { conditions } }, status)
  const told = await cluster.until(ROUTES, route, (seen) => seen['status'] !== undefined)
  expect(told['status']).toMatchObject({ parents: [{ parentRef: { name: 'edge' }, conditions: [{ status: 'True' }] }] })
  await cluster.until(GATEWAYS, gateway, (seen) => seen['status'] !== undefined)

  await cluster.delete(GRANTS, { namespace: data, name: 'g' })
  await host.untilGone(ROUTES, tenant.copyOf(route))
  await cluster.create(grant)
  await host.until(ROUTES, tenant.copyOf(route), () => true)
  await cluster.delete(ROUTES, route)
  await cluster.delete(GATEWAYS, gateway)
  await host.untilGone(ROUTES, tenant.copyOf(route))
  await host.untilGone(GATEWAYS, tenant.copyOf(gateway))
})

test('a kind whose definition is missing keeps no other from crossing', async () => {
  const { host } = world
  const tenant = world.tenants[0]
  const { cluster } = tenant
  const namespace = await tenant.namespace()
  await cluster.create(configMapOf(namespace, 'settings', { a: '1' }))
  await cluster.create(podOf(namespace, 'app', { configMap: 'settings' }))
  await host.until('pods', tenant.copyOf({ namespace, name: 'app' }), () => true)
  const { stdout } = await world.up.command('tenant', 'list', '--json')
  expect(stdout).not.toMatch(/unreachable|unauthorized/)
})

test('a definition that is installed later is seen to come, on either side', async () => {
  const { host } = world
  const tenant = world.tenants[0]
  const namespace = await tenant.namespace()
  const gateway = { namespace, name: 'late' }
  const route = { namespace, name: 'calls' }
  await Promise.all([host, tenant.cluster].map((each) => define(each, [RESOURCES[GRPC_ROUTES]])))
  const listeners = [{ name: 'http', port: 80, protocol: 'HTTP' }]
  const shared = unique('late')
  await host.create(objectOf(CLASSES, { name: shared }, { controllerName: 'example.com/gateway' }))
  await tenant.cluster.until(CLASSES, { name: shared }, () => true)
  await tenant.cluster.create(objectOf(GATEWAYS, gateway, { gatewayClassName: shared, listeners }))
  const rules = [{ backendRefs: [{ name: 'api', port: 80 }] }]
  await tenant.cluster.create(objectOf(GRPC_ROUTES, route, { parentRefs: [{ name: 'late' }], rules }))
  const copy = await host.until(GRPC_ROUTES, tenant.copyOf(route), () => true)
  expect(copy.metadata.name).toBe(tenant.copyOf(route).name)
  await tenant.cluster.delete(GRPC_ROUTES, route)
  await host.untilGone(GRPC_ROUTES, tenant.copyOf(route))
})
