import { afterAll, beforeAll, expect, test } from 'vitest'
import { type KubeObject, RESOURCES } from '#libs/kube-model'
import { configure } from '../../harness/configure.ts'
import { isRunning, podOf } from '../../harness/objects.ts'
import { type Tenant, type World, openWorld } from '../../harness/world.ts'

let world: World
beforeAll(async () => {
  world = await openWorld({ separate: false })
})
afterAll(() => world?.close())

type Container = { name: string; env?: { name: string; value?: string }[]; resources?: object }
type Spec = { containers: Container[]; ephemeralContainers?: Container[]; volumes?: object[]; dnsPolicy?: string }

const specOf = (pod: KubeObject): Spec => pod['spec'] as Spec
const withSpec = (pod: KubeObject, spec: object): KubeObject => ({
  ...pod,
  spec: { ...(pod['spec'] as object), ...spec },
})

/** The reasons of the Events about a pod, as they begin. */
async function toldAbout(tenant: Tenant, namespace: string, name: string): Promise<string[]> {
  const events = await tenant.cluster.list('events', namespace)
  return events
    .filter(({ involvedObject }) => (involvedObject as { name?: string } | undefined)?.name === name)
    .map(({ message }) => String(message as string))
}

test('a pod against the policy is told why, and runs once the policy lets it', async () => {
  const { host, tenants, up } = world
  const tenant = tenants[0]
  const namespace = await tenant.namespace()
  const ref = { namespace, name: 'agent' }
  const volumes = [{ name: 'logs', hostPath: { path: '/var/log' } }]
  await tenant.cluster.create(withSpec(podOf(namespace, 'agent'), { volumes }))
  await expect
    .poll(() => toldAbout(tenant, namespace, 'agent'), { timeout: 10_000 })
    .toEqual([expect.stringContaining('violates PodSecurity "baseline": hostPath volumes (volume "logs")')])
  expect(await tenant.findCopy('pods', ref)).toBeUndefined()
  await configure(up, tenant.name, { policies: { podSecurityStandard: 'privileged' } })
  await tenant.cluster.until('pods', ref, isRunning)
  await configure(up, tenant.name, {})
  await tenant.cluster.create(podOf(namespace, 'later'))
  await tenant.cluster.until('pods', { namespace, name: 'later' }, isRunning)
  const copy = await host.get('pods', tenant.copyOf(ref))
  expect(copy.metadata.deletionTimestamp).toBeUndefined()
})

test('a pod reaches its own API with a token of its own, and waits for its DNS', async () => {
  const { host, tenants, up } = world
  const tenant = tenants[1]
  await configure(up, tenant.name, {
    networking: { apiServer: { host: '10.96.0.20', port: 6443 }, dns: { enabled: true, service: 'dns/coredns' } },
  })
  const namespace = await tenant.namespace()
  const ref = { namespace, name: 'client' }
  const projected = { sources: [{ serviceAccountToken: { path: 'token', audience: 'vault', expirationSeconds: 900 } }] }
  await tenant.cluster.create(withSpec(podOf(namespace, 'client'), { volumes: [{ name: 'token', projected }] }))
  await expect
    .poll(() => toldAbout(tenant, namespace, 'client'), { timeout: 10_000 })
    .toEqual([expect.stringMatching(/^WaitingForDNS/)])
  await tenant.namespace('dns')
  const service = { metadata: { namespace: 'dns', name: 'coredns' }, spec: { ports: [{ port: 53 }] } }
  await tenant.cluster.create({ apiVersion: 'v1', kind: 'Service', ...service })
  await tenant.cluster.until('pods', ref, isRunning)
  const dns = await host.get('services', tenant.copyOf({ namespace: 'dns', name: 'coredns' }))
  const copy = await host.get('pods', tenant.copyOf(ref))
  const address = (dns['spec'] as { clusterIP: string }).clusterIP
  expect(copy['spec']).toMatchObject({
    dnsPolicy: 'None',
    dnsConfig: { nameservers: [address], searches: expect.arrayContaining([`${namespace}.svc.cluster.local`]) },
    hostAliases: [{ ip: '10.96.0.20', hostnames: expect.arrayContaining(['kubernetes.default.svc']) }],
  })
  const environment = specOf(copy).containers[0]?.env ?? []
  expect(environment).toContainEqual({ name: 'KUBERNETES_SERVICE_PORT', value: '6443' })

  const volume = JSON.stringify(specOf(copy).volumes)
  const [name = ''] = /causeway-token-[0-9a-f]+/.exec(volume) ?? []
  const secret = await host.get('secrets', { namespace: tenant.hostNamespace, name })
  expect(secret.metadata.ownerReferences).toMatchObject([{ kind: 'Pod', uid: copy.metadata.uid }])
  const { 'token-0': data = '' } = secret['data'] as Record<string, string>
  const token = Buffer.from(data, 'base64').toString()
  expect(JSON.stringify(copy)).not.toContain(token)
  const claims = Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()
  expect(JSON.parse(claims)).toMatchObject({ aud: ['vault'], sub: `system:serviceaccount:${namespace}:default` })
})

test('pods of a dedicated tenant run on its nodes alone', async () => {
  const { host, tenants, up } = world
  const tenant = tenants[0]
  const [first, second] = await host.list('nodes')
  const own = first?.metadata.name ?? ''
  const label = `example.com/${tenant.name}`
  await host.patch('nodes', { name: own }, { metadata: { labels: { [label]: 'yes' } } })
  await configure(up, tenant.name, { nodes: { model: 'dedicated', selector: { [label]: 'yes' } } })
  const namespace = await tenant.namespace()
  const names = ['a', 'b', 'c', 'd']
  for (const name of names) await tenant.cluster.create(podOf(namespace, name))
  for (const name of names) {
    const pod = await tenant.cluster.until('pods', { namespace, name }, isRunning)
    expect(pod['spec']).toMatchObject({ nodeName: own })
  }
  const nodeName = second?.metadata.name ?? ''
  await tenant.cluster.create(withSpec(podOf(namespace, 'elsewhere'), { nodeName }))
  await expect
    .poll(() => toldAbout(tenant, namespace, 'elsewhere'), { timeout: 10_000 })
    .toEqual([expect.stringContaining(`node "${nodeName}" is not one of this cluster's`)])
  expect(await tenant.findCopy('pods', { namespace, name: 'elsewhere' })).toBeUndefined()
  await configure(up, tenant.name, {})
})

test('a resize and an ephemeral container reach the copy that runs', async () => {
  const { host, tenants } = world
  const tenant = tenants[0]
  const namespace = await tenant.namespace()
  const ref = { namespace, name: 'web' }
  const pod = podOf(namespace, 'web')
  const [main] = specOf(pod).containers
  const sized = (cpu: string): object => ({ containers: [{ ...main, resources: { requests: { cpu } } }] })
  await tenant.cluster.create(withSpec(pod, sized('100m')))
  await tenant.cluster.until('pods', ref, isRunning)
  const { client } = tenant.cluster
  await client.patch(RESOURCES.pods, ref, { spec: sized('200m') }, { type: 'strategic', subresource: 'resize' })
  await host.until('pods', tenant.copyOf(ref), (copy) => JSON.stringify(specOf(copy).containers).includes('200m'))
  const debug = { name: 'debug', image: 'busybox:1', targetContainerName: 'main' }
  const added = { spec: { ephemeralContainers: [debug] } }
  await client.patch(RESOURCES.pods, ref, added, { type: 'strategic', subresource: 'ephemeralcontainers' })
  const copy = await host.until(
    'pods',
    tenant.copyOf(ref),
    (state) => (specOf(state).ephemeralContainers ?? []).length > 0,
  )
  expect(specOf(copy).ephemeralContainers).toMatchObject([debug])
})
