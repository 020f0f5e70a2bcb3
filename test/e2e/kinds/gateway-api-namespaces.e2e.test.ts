import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type JsonObject, type KubeObject, RESOURCES } from '#libs/kube-model'
import { type Cluster, openCluster } from '../../harness/cluster.ts'
import { type Clusters, startClusters } from '../../harness/clusters.ts'
import { define } from '../../harness/definitions.ts'
import { type Installation, startUp } from '../../harness/installation.ts'
import { unique } from '../../harness/objects.ts'

const GATEWAYS = 'gateways.gateway.networking.k8s.io'
const ROUTES = 'httproutes.gateway.networking.k8s.io'
const GRANTS = 'referencegrants.gateway.networking.k8s.io'
const INSTALLED = ([GATEWAYS, ROUTES, GRANTS] as const).map((token) => RESOURCES[token])
const NAME = 'spread'
const config = {
  sync: {
    toHost: {
      namespaces: { enabled: true },
      gatewayApi: { gateways: { enabled: true }, httpRoutes: { enabled: true } },
    },
  },
}

let clusters: Clusters
let up: Installation
let host: Cluster
let cluster: Cluster
let folder: string
beforeAll(async () => {
  clusters = await startClusters()
  const [own, other] = Object.entries(clusters.tenants)
  const [, kubeconfig] = own ?? ['', '']
  host = await openCluster(clusters.hostKubeconfig)
  cluster = await openCluster(kubeconfig)
  await Promise.all([host, cluster].map((each) => define(each, INSTALLED)))
  const tenants = other === undefined ? [] : [other.join('=')]
  up = await startUp({ separate: false, hostKubeconfig: clusters.hostKubeconfig, tenants })
  folder = mkdtempSync(join(tmpdir(), 'causeway-config-'))
  const file = join(folder, 'config.json')
  writeFileSync(file, JSON.stringify(config))
  const { code, stderr } = await up.command('tenant', 'create', NAME, '--kubeconfig', kubeconfig, '--config', file)
  if (code !== 0) throw new Error(`the tenant was not made: ${stderr}`)
})
afterAll(async () => {
  await cluster?.removeMade()
  await host?.removeMade()
  await Promise.all([cluster?.close(), host?.close()])
  await up?.dispose()
  await clusters?.stop()
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true })
})

const objectOf = (kind: keyof typeof RESOURCES, metadata: KubeObject['metadata'], spec: JsonObject): KubeObject => {
  const { group, version, kind: name } = RESOURCES[kind]
  return { apiVersion: `${group}/${version}`, kind: name, metadata, spec }
}
const hostOf = (namespace: string): string => `causeway-${namespace}-x-${NAME}`
const copyOf = ({ namespace, name }: { namespace: string; name: string }) => ({
  namespace: hostOf(namespace),
  name: `${name}-x-${namespace}-x-${NAME}`,
})

test('routes find the Gateways and backends of the tenant’s other namespaces on the host', async () => {
  const [infra, web, data] = [unique('in'), unique('web'), unique('data')]
  for (const name of [infra, web, data]) {
    await cluster.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
  }
  const gateway = { namespace: infra, name: 'edge' }
  const route = { namespace: web, name: 'shop' }
  const grant = { namespace: data, name: 'g' }
  const listeners = [{ name: 'http', port: 80, protocol: 'HTTP', allowedRoutes: { namespaces: { from: 'All' } } }]
  await cluster.create(objectOf(GATEWAYS, gateway, { gatewayClassName: 'c', listeners }))
  const rules = [{ backendRefs: [{ name: 'api', namespace: data, port: 80 }] }]
  await cluster.create(objectOf(ROUTES, route, { parentRefs: [{ name: 'edge', namespace: infra }], rules }))
  const from = [{ group: 'gateway.networking.k8s.io', kind: 'HTTPRoute', namespace: web }]
  await cluster.create(objectOf(GRANTS, grant, { from, to: [{ group: '', kind: 'Service' }] }))

  const copy = await host.until(ROUTES, copyOf(route), () => true)
  expect(copy['spec']).toEqual({
    parentRefs: [copyOf(gateway)],
    rules: [{ backendRefs: [{ ...copyOf({ namespace: data, name: 'api' }), port: 80 }] }],
  })
  expect((await host.until(GRANTS, copyOf(grant), () => true))['spec']).toMatchObject({
    from: [{ namespace: hostOf(web) }],
  })
  const selector = { matchLabels: { 'causeway.dev/tenant': NAME } }
  const edge = await host.until(GATEWAYS, copyOf(gateway), () => true)
  expect(edge['spec']).toMatchObject({
    listeners: [{ allowedRoutes: { namespaces: { from: 'Selector', selector } } }],
  })
  const place = await host.get('namespaces', { name: hostOf(web) })
  expect(place.metadata.labels).toMatchObject(selector.matchLabels)

  const conditions = [{ type: 'Accepted', status: 'True', reason: 'Accepted', message: '', observedGeneration: 1 }]
  const parents = [{ parentRef: copyOf(gateway), controllerName: 'example.com/gateway', conditions }]
  const status = { type: 'merge', subresource: 'status' } as const
  await host.client.patch(RESOURCES[ROUTES], copyOf(route), { status: { parents } }, status)
  const told = await cluster.until(ROUTES, route, (seen) => seen['status'] !== undefined)
  expect(told['status']).toMatchObject({ parents: [{ parentRef: { name: 'edge', namespace: infra } }] })

  await cluster.delete(GRANTS, grant)
  await host.untilGone(ROUTES, copyOf(route))
})
