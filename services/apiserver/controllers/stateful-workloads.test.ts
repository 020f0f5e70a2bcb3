import { describe, expect, it } from 'vitest'
import type { KubeObject } from '#libs/kube-model'
import { deploymentNamed, runPods, startTestCluster } from './testing/test-cluster.ts'
import type { TestCluster } from './testing/test-cluster.ts'

const podNames = (api: TestCluster): (string | undefined)[] =>
  api
    .list('pods', { namespace: 'default' })
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .map(({ metadata }) => metadata.name)
const imageOf = (pod: KubeObject | undefined): string | undefined =>
  (pod?.['spec'] as { containers: { image: string }[] } | undefined)?.containers[0]?.image

function template(image: string): object {
  return { metadata: { labels: { app: 'db' } }, spec: { containers: [{ name: 'main', image }] } }
}

function statefulSet(spec: object = {}): KubeObject {
  return {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name: 'db' },
    spec: { serviceName: 'db', selector: { matchLabels: { app: 'db' } }, template: template('v1'), ...spec },
  }
}

function setSpec(api: TestCluster, resource: string, fields: object): void {
  const object = api.get(resource, 'default', 'db') as KubeObject
  api.update(resource, { ...object, spec: { ...(object['spec'] as object), ...fields } })
}

const statusOf = (api: TestCluster, resource: string): unknown => api.get(resource, 'default', 'db')?.['status']

describe('stateful sets', () => {
  const RESOURCE = 'statefulsets.apps'

  it('start their pods one after the other, each with its own claims', async () => {
    const api = startTestCluster()
    const claim = {
      metadata: { name: 'data' },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
    }
    const containers = [{ name: 'main', image: 'v1', volumeMounts: [{ name: 'data', mountPath: '/data' }] }]
    const mounting = { metadata: { labels: { app: 'db' } }, spec: { containers } }
    api.create(RESOURCE, 'default', statefulSet({ replicas: 2, template: mounting, volumeClaimTemplates: [claim] }))
    await expect.poll(() => podNames(api)).toEqual(['db-0'])
    runPods(api)
    await expect.poll(() => podNames(api)).toEqual(['db-0', 'db-1'])
    expect(api.list('persistentvolumeclaims').map(({ metadata }) => metadata.name)).toEqual(['data-db-0', 'data-db-1'])
    expect(api.get('pods', 'default', 'db-1')).toMatchObject({
      metadata: { labels: { 'apps.kubernetes.io/pod-index': '1', 'statefulset.kubernetes.io/pod-name': 'db-1' } },
      spec: {
        hostname: 'db-1',
        subdomain: 'db',
        volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data-db-1' } }],
      },
    })
    runPods(api)
    await expect
      .poll(() => statusOf(api, RESOURCE))
      .toMatchObject({ readyReplicas: 2, availableReplicas: 2, updatedReplicas: 2 })
    expect(api.warnings).toEqual([])
  })

  it('roll a new template out from the highest down, and go back to an earlier one', async () => {
    const api = startTestCluster()
    api.create(RESOURCE, 'default', statefulSet({ replicas: 2 }))
    const settle = (image: string): Promise<void> =>
      expect
        .poll(() => {
          runPods(api)
          const images = api.list('pods').map(imageOf)
          const { currentRevision, updateRevision, readyReplicas } = statusOf(api, RESOURCE) as Record<string, unknown>
          return [...images, readyReplicas, currentRevision === updateRevision]
        })
        .toEqual([image, image, 2, true])
    await settle('v1')
    const order: (string | undefined)[] = []
    api.subscribe('pods', ({ type, object }) => void (type === 'DELETED' && order.push(object.metadata.name)))
    setSpec(api, RESOURCE, { template: template('v2') })
    await settle('v2')
    expect(order).toEqual(['db-1', 'db-0'])
    setSpec(api, RESOURCE, { template: template('v1') })
    await settle('v1')
    expect(api.list('controllerrevisions.apps')).toHaveLength(2)
  })

  it('scale down from the highest', async () => {
    const api = startTestCluster()
    api.create(RESOURCE, 'default', statefulSet({ replicas: 3, podManagementPolicy: 'Parallel' }))
    await expect.poll(() => podNames(api)).toEqual(['db-0', 'db-1', 'db-2'])
    runPods(api)
    setSpec(api, RESOURCE, { replicas: 1 })
    await expect
      .poll(() => {
        runPods(api)
        return podNames(api)
      })
      .toEqual(['db-0'])
  })
})

describe('daemon sets', () => {
  const RESOURCE = 'daemonsets.apps'
  const node = (name: string, labels: Record<string, string> = {}): KubeObject => ({ metadata: { name, labels } })
  const addNode = (api: TestCluster, name: string, labels: Record<string, string> = {}): void => {
    const made = api.create('nodes', undefined, node(name, labels))
    api.update('nodes', { ...made, spec: {} })
  }
  const daemonSet = (spec: object = {}): KubeObject => ({
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { name: 'db' },
    spec: { selector: { matchLabels: { app: 'db' } }, template: template('v1'), ...spec },
  })
  const targets = (api: TestCluster): string[] =>
    api
      .list('pods')
      .map((pod) => JSON.stringify(pod['spec']))
      .map((spec) => /"matchFields":\[{[^\]]*"values":\["([^"]*)"\]/.exec(spec)?.[1] ?? '')
      .sort()

  it('have a pod on every node that fits, and follow nodes that come and go', async () => {
    const api = startTestCluster()
    addNode(api, 'a', { disk: 'ssd' })
    addNode(api, 'b')
    const spec = { nodeSelector: { disk: 'ssd' }, containers: [{ name: 'main', image: 'v1' }] }
    api.create(RESOURCE, 'default', daemonSet({ template: { metadata: { labels: { app: 'db' } }, spec } }))
    await expect.poll(() => targets(api)).toEqual(['a'])
    addNode(api, 'c', { disk: 'ssd' })
    await expect.poll(() => targets(api)).toEqual(['a', 'c'])
    runPods(api)
    await expect
      .poll(() => statusOf(api, RESOURCE))
      .toMatchObject({ desiredNumberScheduled: 2, numberReady: 2, numberAvailable: 2, updatedNumberScheduled: 2 })
    expect(api.warnings).toEqual([])
  })

  it('replace their pods node by node when the template changes', async () => {
    const api = startTestCluster()
    for (const name of ['a', 'b']) addNode(api, name)
    api.create(RESOURCE, 'default', daemonSet())
    await expect.poll(() => targets(api)).toEqual(['a', 'b'])
    runPods(api)
    await expect.poll(() => statusOf(api, RESOURCE)).toMatchObject({ numberAvailable: 2 })
    setSpec(api, RESOURCE, { template: template('v2') })
    await expect
      .poll(() => {
        runPods(api)
        return [...api.list('pods').map(imageOf), (statusOf(api, RESOURCE) as { numberReady: number }).numberReady]
      })
      .toEqual(['v2', 'v2', 2])
  })
})

describe('disruption budgets', () => {
  it('count what their pods’ controllers want', async () => {
    const api = startTestCluster()
    api.create('deployments.apps', 'default', deploymentNamed('web', { replicas: 4 }))
    const spec = { maxUnavailable: '25%', selector: { matchLabels: { app: 'web' } } }
    api.create('poddisruptionbudgets.policy', 'default', { metadata: { name: 'pdb' }, spec })
    await expect
      .poll(() => {
        runPods(api)
        return api.get('poddisruptionbudgets.policy', 'default', 'pdb')?.['status']
      })
      .toMatchObject({
        observedGeneration: 1,
        expectedPods: 4,
        desiredHealthy: 3,
        currentHealthy: 4,
        disruptionsAllowed: 1,
        conditions: [{ type: 'DisruptionAllowed', status: 'True', reason: 'SufficientPods' }],
      })
  })
})
