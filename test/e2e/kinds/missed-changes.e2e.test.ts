import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { JsonObject, KubeObject } from '#libs/kube-model'
import { type Clusters, startClusters } from '../../harness/clusters.ts'
import { type Installation, startUp } from '../../harness/installation.ts'
import { unique } from '../../harness/objects.ts'
import { type SidesView, openView, upOptionsFor } from '../../harness/world.ts'

/* What happens to kinds that are switched on while Causeway is down: it is made good, and merged by the rule. */

const POLICIES = 'networkpolicies.networking.k8s.io'
const INGRESSES = 'ingresses.networking.k8s.io'
const CLASSES = 'runtimeclasses.node.k8s.io'

let clusters: Clusters
let up: Installation
let view: SidesView
beforeAll(async () => {
  clusters = await startClusters()
  up = await startUp({ separate: false, ...upOptionsFor(clusters) })
  view = await openView({ host: clusters.hostKubeconfig, tenants: clusters.tenants })
  await configure({
    toHost: { networkPolicies: { enabled: true }, ingresses: { enabled: true } },
    fromHost: { runtimeClasses: { enabled: true } },
  })
})
afterAll(async () => {
  await view?.clean()
  await view?.close()
  await up?.dispose()
  await clusters?.stop()
})

async function configure(sync: JsonObject): Promise<void> {
  const file = join(up.data, `${unique('config')}.json`)
  writeFileSync(file, JSON.stringify({ sync }))
  const { code, stderr } = await up.command('tenant', 'configure', view.tenants[0].name, '--config', file)
  if (code !== 0) throw new Error(`the configuration is refused: ${stderr}`)
}

test('changes of both sides while nothing runs are made good after a restart', async () => {
  const { host } = view
  const tenant = view.tenants[0]
  const { cluster } = tenant
  const namespace = await tenant.namespace()
  const networking = (kind: string, name: string, spec: JsonObject): KubeObject => ({
    apiVersion: 'networking.k8s.io/v1',
    kind,
    metadata: { namespace, name },
    spec,
  })
  const policy = { namespace, name: 'policy' }
  const ingress = { namespace, name: 'ingress' }
  const [gone, changed] = [unique('gone'), unique('changed')]
  await cluster.create(networking('NetworkPolicy', 'policy', { podSelector: {} }))
  await cluster.create(
    networking('Ingress', 'ingress', { defaultBackend: { service: { name: 'web', port: { number: 80 } } } }),
  )
  for (const name of [gone, changed]) {
    await host.create({
      apiVersion: 'node.k8s.io/v1',
      kind: 'RuntimeClass',
      metadata: { name },
      handler: 'runsc',
    } as KubeObject)
    await cluster.until(CLASSES, { name }, () => true)
  }
  await host.until(POLICIES, tenant.copyOf(policy), () => true)
  await host.until(INGRESSES, tenant.copyOf(ingress), () => true)

  await up.stop()
  await cluster.patch(POLICIES, policy, { spec: { podSelector: { matchLabels: { app: 'db' } } } })
  await host.patch(POLICIES, tenant.copyOf(policy), { metadata: { labels: { 'hosts.example.com/seen': 'yes' } } })
  await cluster.delete(INGRESSES, ingress)
  await host.delete(CLASSES, { name: gone })
  await host.patch(CLASSES, { name: changed }, { metadata: { labels: { tier: 'gold' } } })
  up = await up.restart()

  await host.until(POLICIES, tenant.copyOf(policy), ({ spec }) => JSON.stringify(spec).includes('"app":"db"'))
  await cluster.until(POLICIES, policy, ({ metadata }) => metadata.labels?.['hosts.example.com/seen'] === 'yes')
  await host.untilGone(INGRESSES, tenant.copyOf(ingress))
  await cluster.untilGone(CLASSES, { name: gone })
  await cluster.until(CLASSES, { name: changed }, ({ metadata }) => metadata.labels?.['tier'] === 'gold')

  await configure({})
  await host.untilGone(POLICIES, tenant.copyOf(policy))
  await cluster.untilGone(CLASSES, { name: changed })
  expect(await cluster.find(POLICIES, policy)).toBeDefined()
  await host.delete(CLASSES, { name: changed })
})
