import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { KubeObject } from '#libs/kube-model'
import { type Cluster, openCluster } from '../../harness/cluster.ts'
import { type Clusters, startClusters } from '../../harness/clusters.ts'
import { type Installation, startUp } from '../../harness/installation.ts'
import { unique } from '../../harness/objects.ts'

/* The tenant is made here, as where its copies are is said once. */
describe('a tenant whose namespaces have host namespaces of their own', () => {
  const NAME = 'spread'
  const config = { sync: { toHost: { namespaces: { enabled: true, extraLabels: { 'example.com/managed': 'true' } } } } }
  let clusters: Clusters
  let up: Installation
  let host: Cluster
  let cluster: Cluster
  let folder: string

  beforeAll(async () => {
    clusters = await startClusters()
    const [own, other] = Object.entries(clusters.tenants)
    const [, kubeconfig] = own ?? ['', '']
    const tenants = other === undefined ? [] : [other.join('=')]
    up = await startUp({ separate: true, hostKubeconfig: clusters.hostKubeconfig, tenants })
    folder = mkdtempSync(join(tmpdir(), 'causeway-config-'))
    const { code, stderr } = await command('create', NAME, '--kubeconfig', kubeconfig, '--config', file('on', config))
    if (code !== 0) throw new Error(`the tenant was not made: ${stderr}`)
    host = await openCluster(clusters.hostKubeconfig)
    cluster = await openCluster(kubeconfig)
  })
  afterAll(async () => {
    await cluster?.removeMade()
    await host?.removeMade()
    await Promise.all([cluster?.close(), host?.close()])
    await up?.dispose()
    await clusters?.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  const command = (...args: string[]) => up.command('tenant', ...args)
  const file = (name: string, value: object): string => {
    const path = join(folder, `${name}.json`)
    writeFileSync(path, JSON.stringify(value))
    return path
  }
  const hostOf = (namespace: string): string => `causeway-${namespace}-x-${NAME}`
  const namespaceOf = async (name: string): Promise<string> => {
    await cluster.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels: { team: 'green' } } })
    await cluster.until('serviceaccounts', { namespace: name, name: 'default' }, () => true)
    return name
  }
  const podOf = (namespace: string, name: string): KubeObject => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace, name },
    spec: { containers: [{ name: 'main', image: 'nginx', envFrom: [{ configMapRef: { name: 'settings' } }] }] },
  })
  const phaseOf = (object: KubeObject): unknown => (object['status'] as { phase?: string } | undefined)?.phase
  const copyIn = (namespace: string, name: string) => ({
    namespace: hostOf(namespace),
    name: `${name}-x-${namespace}-x-${NAME}`,
  })

  test('what is in a namespace is in its own on the host, and goes with it', async () => {
    const [one, two] = [await namespaceOf(unique('one')), await namespaceOf(unique('two'))]
    for (const namespace of [one, two]) {
      const data = { namespace }
      await cluster.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace, name: 'settings' }, data })
      await cluster.create(podOf(namespace, 'web'))
    }
    for (const namespace of [one, two]) {
      const place = await host.until('namespaces', { name: hostOf(namespace) }, () => true)
      expect(place.metadata.labels).toMatchObject({
        team: 'green',
        'causeway.dev/tenant': NAME,
        'example.com/managed': 'true',
      })
      await host.until('configmaps', copyIn(namespace, 'settings'), () => true)
      const ref = { namespace, name: 'web' }
      await cluster.until('pods', ref, (pod) => phaseOf(pod) === 'Running')
      expect(phaseOf(await host.until('pods', copyIn(namespace, 'web'), () => true))).toBe('Running')
    }
    expect((await host.list('pods', `causeway-${NAME}`)).length).toBe(0)
    expect((await cluster.find('namespaces', { name: one }))?.metadata.labels).not.toHaveProperty('example.com/managed')

    // Labels follow, in both directions.
    await cluster.patch('namespaces', { name: one }, { metadata: { labels: { team: 'blue' } } })
    await host.until('namespaces', { name: hostOf(one) }, ({ metadata }) => metadata.labels?.['team'] === 'blue')
    await host.patch('namespaces', { name: hostOf(one) }, { metadata: { labels: { cost: 'high' } } })
    await cluster.until('namespaces', { name: one }, ({ metadata }) => metadata.labels?.['cost'] === 'high')

    // What the host says of a copy is told, also by a watch that goes on where another ended; and a pod ends as it does elsewhere.
    process.kill(up.pids()['watcher'] ?? 0, 'SIGKILL')
    const copy = await host.until('pods', copyIn(one, 'web'), () => true)
    await host.create({
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { namespace: hostOf(one), name: unique('event') },
      involvedObject: { apiVersion: 'v1', kind: 'Pod', ...copyIn(one, 'web'), uid: copy.metadata.uid },
      type: 'Warning',
      reason: 'Odd',
      message: `something about ${copyIn(one, 'web').name} in ${hostOf(one)}`,
    } as KubeObject)
    const told = await cluster.untilAll('events', one, (events) => events.some((event) => event['reason'] === 'Odd'))
    expect(told.find((event) => event['reason'] === 'Odd')?.['message']).toBe(`something about web in ${one}`)
    await cluster.delete('pods', { namespace: one, name: 'web' })
    await host.untilGone('pods', copyIn(one, 'web'))

    // A namespace goes with all that is in it; the other stays.
    await cluster.delete('namespaces', { name: two })
    await cluster.untilGone('namespaces', { name: two })
    await host.untilGone('namespaces', { name: hostOf(two) })
    expect(await host.find('namespaces', { name: hostOf(one) })).toBeDefined()
  })

  test('a host namespace that is not ours is never taken, nor is anything put there', async () => {
    const taken = unique('taken')
    await host.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: hostOf(taken) } })
    await host.until('serviceaccounts', { namespace: hostOf(taken), name: 'default' }, () => true)
    await namespaceOf(taken)
    await cluster.create(podOf(taken, 'web'))
    const isTold = (event: KubeObject): boolean => String(event['message']).startsWith('ForeignObject')
    await cluster.untilAll('events', taken, (events) => events.some(isTold))
    expect(await host.find('pods', copyIn(taken, 'web'))).toBeUndefined()
    expect((await host.find('namespaces', { name: hostOf(taken) }))?.metadata.labels).not.toHaveProperty([
      'causeway.dev/tenant',
    ])

    // Once the name is free, all of it crosses.
    await host.delete('namespaces', { name: hostOf(taken) })
    await host.until(
      'namespaces',
      { name: hostOf(taken) },
      ({ metadata }) => metadata.labels?.['causeway.dev/tenant'] === NAME,
      { timeoutMs: 60_000 },
    )
    await host.until('pods', copyIn(taken, 'web'), () => true, { timeoutMs: 60_000 })
  })

  test('it stays so for the tenant’s life, after which nothing is left', async () => {
    const { code, stderr } = await command('configure', NAME, '--config', file('off', {}))
    expect(stderr).toContain('sync.toHost.namespaces.enabled')
    expect(code).not.toBe(0)
    const last = await namespaceOf(unique('last'))
    await host.until('namespaces', { name: hostOf(last) }, () => true)
    expect((await command('delete', NAME, '--yes')).code).toBe(0)
    await host.untilGone('namespaces', { name: hostOf(last) })
    await host.untilGone('namespaces', { name: hostOf('default') })
  })
})
