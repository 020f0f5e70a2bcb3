import type { KubeObject } from '#libs/kube-model'
import { describe, expect, it } from 'vitest'
import { deploymentNamed, isRunning, runPods, startTestCluster } from './testing/test-cluster.ts'
import type { TestCluster as Cluster } from './testing/test-cluster.ts'

const pods = (api: Cluster): KubeObject[] => api.list('pods', { namespace: 'default' })
const images = (api: Cluster): string[] =>
  pods(api).map((pod) => (pod['spec'] as { containers: { image: string }[] }).containers[0]?.image ?? '')
const statusOf = (api: Cluster, name: string): Record<string, unknown> =>
  (api.get('deployments.apps', 'default', name)?.['status'] ?? {}) as Record<string, unknown>
const reasonOf = (api: Cluster, name: string, type: string): string | undefined =>
  (statusOf(api, name)['conditions'] as { type: string; reason: string }[] | undefined)?.find(
    (condition) => condition.type === type,
  )?.reason

async function rollOut(api: Cluster, name: string, replicas: number): Promise<void> {
  await expect
    .poll(() => {
      runPods(api)
      return { ...statusOf(api, name), reason: reasonOf(api, name, 'Progressing') }
    })
    .toMatchObject({
      observedGeneration: api.get('deployments.apps', 'default', name)?.metadata.generation,
      updatedReplicas: replicas,
      replicas,
      availableReplicas: replicas,
      reason: 'NewReplicaSetAvailable',
    })
}

function setSpec(api: Cluster, name: string, fields: object): void {
  const deployment = api.get('deployments.apps', 'default', name)
  if (deployment === undefined) throw new Error(`no deployment ${name}`)
  api.update('deployments.apps', { ...deployment, spec: { ...(deployment['spec'] as object), ...fields } })
}

function template(image: string, app = 'web'): object {
  return { metadata: { labels: { app } }, spec: { containers: [{ name: 'main', image }] } }
}

describe('deployments', () => {
  it('makes the pods of a new deployment and reports when they are available', async () => {
    const api = startTestCluster()
    api.create('deployments.apps', 'default', deploymentNamed('web', { replicas: 3 }))
    await rollOut(api, 'web', 3)
    expect(pods(api).map(({ metadata }) => metadata.name)).toSatisfy((names: string[]) =>
      names.every((name) => /^web-[bcdfghjklmnpqrstvwxz2456789]+-[bcdfghjklmnpqrstvwxz2456789]{5}$/.test(name)),
    )
    expect(reasonOf(api, 'web', 'Available')).toBe('MinimumReplicasAvailable')
    expect(api.warnings).toEqual([])
  })

  it('rolls a new template out and keeps the earlier ReplicaSet for a rollback', async () => {
    const api = startTestCluster()
    api.create('deployments.apps', 'default', deploymentNamed('web', { replicas: 4 }))
    await rollOut(api, 'web', 4)
    setSpec(api, 'web', { template: template('nginx:2') })
    await rollOut(api, 'web', 4)
    await expect.poll(() => images(api)).toEqual(Array.from({ length: 4 }, () => 'nginx:2'))
    setSpec(api, 'web', { template: template('nginx') })
    await rollOut(api, 'web', 4)
    await expect.poll(() => images(api)).toEqual(Array.from({ length: 4 }, () => 'nginx'))
    const revisions = api
      .list('replicasets.apps')
      .map(({ metadata }) => metadata.annotations?.['deployment.kubernetes.io/revision'])
    expect(new Set(revisions)).toEqual(new Set(['2', '3']))
  })

  it('never has fewer pods available in a rolling update than maxUnavailable allows', async () => {
    const api = startTestCluster()
    const strategy = { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } }
    api.create('deployments.apps', 'default', deploymentNamed('web', { replicas: 3, strategy }))
    await rollOut(api, 'web', 3)
    let lowest = 3
    let highest = 3
    api.subscribe('pods', () => {
      const active = pods(api).filter(({ metadata }) => metadata.deletionTimestamp === undefined)
      lowest = Math.min(lowest, active.filter(isRunning).length)
      highest = Math.max(highest, active.length)
    })
    setSpec(api, 'web', { template: template('nginx:2') })
    await rollOut(api, 'web', 3)
    expect({ lowest, highest }).toEqual({ lowest: 3, highest: 4 })
  })

  it('with Recreate makes new pods only after the last old one is gone', async () => {
    const api = startTestCluster()
    api.create('deployments.apps', 'default', deploymentNamed('web', { replicas: 2, strategy: { type: 'Recreate' } }))
    await rollOut(api, 'web', 2)
    const mixed: string[][] = []
    api.subscribe('pods', () => {
      if (new Set(images(api)).size > 1) mixed.push(images(api))
    })
    setSpec(api, 'web', { template: template('nginx:2') })
    await rollOut(api, 'web', 2)
    expect(mixed).toEqual([])
  })

  it('scales up and down, and while paused scales but does not roll out', async () => {
    const api = startTestCluster()
    api.create('deployments.apps', 'default', deploymentNamed('web', { replicas: 1 }))
    await rollOut(api, 'web', 1)
    setSpec(api, 'web', { replicas: 120 })
    await rollOut(api, 'web', 120)
    setSpec(api, 'web', { replicas: 2, paused: true, template: template('nginx:2') })
    await expect
      .poll(() => {
        runPods(api)
        return images(api)
      })
      .toEqual(['nginx', 'nginx'])
    expect(reasonOf(api, 'web', 'Progressing')).toBe('DeploymentPaused')
    setSpec(api, 'web', { paused: false })
    await rollOut(api, 'web', 2)
    await expect.poll(() => images(api)).toEqual(['nginx:2', 'nginx:2'])
  })

  it('keeps no more earlier ReplicaSets than revisionHistoryLimit', async () => {
    const api = startTestCluster()
    api.create('deployments.apps', 'default', deploymentNamed('web', { replicas: 1, revisionHistoryLimit: 1 }))
    for (const image of ['nginx:1', 'nginx:2', 'nginx:3']) {
      await rollOut(api, 'web', 1)
      setSpec(api, 'web', { template: template(image) })
      await expect.poll(() => images(api)).toContain(image)
    }
    await rollOut(api, 'web', 1)
    await expect.poll(() => api.list('replicasets.apps').length).toBe(2)
  })
})

describe('replica sets', () => {
  it('replaces a pod that is deleted and releases one whose label was taken off', async () => {
    const api = startTestCluster()
    api.create('deployments.apps', 'default', deploymentNamed('web', { replicas: 2 }))
    await rollOut(api, 'web', 2)
    const [first, second] = pods(api)
    if (first === undefined || second === undefined) throw new Error('two pods expected')
    api.delete('pods', 'default', first.metadata.name ?? '')
    api.update('pods', { ...second, metadata: { ...second.metadata, labels: {} } })
    await rollOut(api, 'web', 2)
    await expect.poll(() => pods(api).length).toBe(3)
    expect(api.get('pods', 'default', second.metadata.name ?? '')?.metadata.ownerReferences).toBeUndefined()
  })
})

describe('garbage collection', () => {
  it('deletes ReplicaSets and pods of a deleted deployment', async () => {
    const api = startTestCluster()
    api.create('deployments.apps', 'default', deploymentNamed('web', { replicas: 3 }))
    await rollOut(api, 'web', 3)
    api.delete('deployments.apps', 'default', 'web')
    await expect
      .poll(() => {
        runPods(api)
        return [...api.list('replicasets.apps'), ...pods(api)]
      })
      .toEqual([])
  })

  it('in the foreground deletes the owner last', async () => {
    const api = startTestCluster()
    api.create('deployments.apps', 'default', deploymentNamed('web', { replicas: 2 }))
    await rollOut(api, 'web', 2)
    const gone: string[] = []
    for (const resource of ['pods', 'replicasets.apps', 'deployments.apps']) {
      api.subscribe(resource, ({ type }) => (type === 'DELETED' ? gone.push(resource) : 0))
    }
    api.delete('deployments.apps', 'default', 'web', { propagationPolicy: 'Foreground' })
    await expect
      .poll(() => {
        runPods(api)
        return gone
      })
      .toEqual(['pods', 'pods', 'replicasets.apps', 'deployments.apps'])
  })

  it('leaves dependents alone when the owner is orphaned away', async () => {
    const api = startTestCluster()
    api.create('deployments.apps', 'default', deploymentNamed('web', { replicas: 2 }))
    await rollOut(api, 'web', 2)
    api.delete('deployments.apps', 'default', 'web', { propagationPolicy: 'Orphan' })
    await expect.poll(() => api.get('deployments.apps', 'default', 'web')).toBeUndefined()
    expect(api.list('replicasets.apps').map(({ metadata }) => metadata.ownerReferences)).toEqual([undefined])
    expect(pods(api).length).toBe(2)
  })

  it('deletes an object whose owner never existed', async () => {
    const api = startTestCluster()
    const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'gone', uid: 'no-such-uid' }]
    api.create('secrets', 'default', { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'child', ownerReferences } })
    await expect.poll(() => api.get('secrets', 'default', 'child')).toBeUndefined()
  })
})

describe('namespaces', () => {
  it('get a ServiceAccount and the CA, again when those are deleted', async () => {
    const api = startTestCluster({ caCertificate: 'PEM' })
    const isComplete = (): boolean =>
      api.get('serviceaccounts', 'default', 'default') !== undefined &&
      api.get('configmaps', 'default', 'kube-root-ca.crt') !== undefined
    await expect.poll(isComplete).toBe(true)
    api.delete('serviceaccounts', 'default', 'default')
    api.delete('configmaps', 'default', 'kube-root-ca.crt')
    await expect.poll(isComplete).toBe(true)
  })

  it('are emptied, pods first, before they go', async () => {
    const api = startTestCluster({ caCertificate: 'PEM' })
    api.create('namespaces', undefined, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team' } })
    api.create('configmaps', 'team', { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'settings' } })
    api.create('deployments.apps', 'team', deploymentNamed('web', { replicas: 2 }))
    const running = (): number => {
      runPods(api)
      return api.list('pods', { namespace: 'team' }).filter(isRunning).length
    }
    await expect.poll(running).toBe(2)
    const gone: string[] = []
    for (const resource of ['pods', 'configmaps', 'namespaces']) {
      api.subscribe(resource, ({ type }) => (type === 'DELETED' ? gone.push(resource) : 0))
    }
    api.delete('namespaces', undefined, 'team')
    await expect
      .poll(() => {
        runPods(api)
        return gone
      })
      .toEqual(['pods', 'pods', 'configmaps', 'configmaps', 'namespaces'])
    const left = ['deployments.apps', 'serviceaccounts', 'replicasets.apps'].map((resource) =>
      api.list(resource, { namespace: 'team' }),
    )
    expect(left).toEqual([[], [], []])
    expect(api.warnings).toEqual([])
  })
})

describe('services', () => {
  it('have the ready pods they select as endpoints', async () => {
    const api = startTestCluster()
    const spec = { selector: { app: 'web' }, ports: [{ name: 'http', port: 80, targetPort: 8080 }] }
    api.create('services', 'default', { apiVersion: 'v1', kind: 'Service', metadata: { name: 'web' }, spec })
    api.create('deployments.apps', 'default', deploymentNamed('web', { replicas: 3 }))
    await rollOut(api, 'web', 3)
    const ips = pods(api).map((pod) => (pod['status'] as { podIP: string }).podIP)
    await expect
      .poll(() => {
        const [subset] = (api.get('endpoints', 'default', 'web')?.['subsets'] ?? []) as {
          addresses?: { ip: string }[]
        }[]
        return (subset?.addresses ?? []).map(({ ip }) => ip).toSorted()
      })
      .toEqual(ips.toSorted())
    const [slice] = api.list('endpointslices.discovery.k8s.io')
    expect(slice).toMatchObject({ addressType: 'IPv4', ports: [{ name: 'http', port: 8080, protocol: 'TCP' }] })
    api.delete('services', 'default', 'web')
    await expect
      .poll(() =>
        [...api.list('endpoints'), ...api.list('endpointslices.discovery.k8s.io')].map(({ metadata }) => metadata.name),
      )
      .toEqual([])
  })
})

describe('jobs', () => {
  it('run pods until enough of them succeeded', async () => {
    const api = startTestCluster()
    api.create('jobs.batch', 'default', {
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: { name: 'task' },
      spec: {
        completions: 3,
        parallelism: 2,
        template: { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'busybox' }] } },
      },
    })
    await expect
      .poll(() => {
        for (const pod of pods(api)) {
          if ((pod['status'] as { phase?: string }).phase !== 'Succeeded')
            api.update('pods', { ...pod, status: { phase: 'Succeeded' } }, { subresource: 'status' })
        }
        return api.get('jobs.batch', 'default', 'task')?.['status']
      })
      .toMatchObject({ succeeded: 3, conditions: [{ type: 'Complete', status: 'True' }] })
    expect(pods(api).length).toBe(3)
  })
})
