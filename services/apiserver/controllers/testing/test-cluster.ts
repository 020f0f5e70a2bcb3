import { systemClock } from '#libs/kernel'
import type { KubeObject } from '#libs/kube-model'
import { onTestFinished } from 'vitest'
import resources from '../../data/resources.json' with { type: 'json' }
import type { ClusterApi } from '../../cluster-api.ts'
import { startControllers } from '../index.ts'
import { createMemoryCluster } from './memory-cluster.ts'

/** A cluster with running controllers and the namespace `default`; everything ends with the test. */
export function startTestCluster(options: { caCertificate?: string } = {}): ClusterApi & { warnings: object[] } {
  const api = createMemoryCluster(() => systemClock.now())
  const warnings: object[] = []
  const log = { debug: () => {}, warn: (fields: object) => void warnings.push(fields) }
  const controllers = startControllers(api, { clock: systemClock, log, resources, ...options })
  onTestFinished(() => controllers.close())
  api.create('namespaces', undefined, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'default' } })
  return { ...api, warnings }
}

/** A deployment of one container. */
export function deploymentNamed(
  name: string,
  spec: { replicas: number; image?: string } & Record<string, unknown>,
): KubeObject {
  const { image = 'nginx', ...fields } = spec
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name },
    spec: {
      selector: { matchLabels: { app: name } },
      progressDeadlineSeconds: 600,
      template: { metadata: { labels: { app: name } }, spec: { containers: [{ name: 'main', image }] } },
      ...fields,
    },
  }
}

/** Plays the kubelet: pods that are not ready yet run and are ready from now on; deleted ones go. */
export function runPods(api: ClusterApi): void {
  for (const pod of api.list('pods')) {
    const { namespace, name = '' } = pod.metadata
    if (pod.metadata.deletionTimestamp !== undefined) {
      api.delete('pods', namespace, name, { gracePeriodSeconds: 0 })
    } else if (pod['status'] === undefined) {
      const ready = { type: 'Ready', status: 'True', lastTransitionTime: '2025-01-01T00:00:00Z' }
      const bound = api.update('pods', { ...pod, spec: { ...(pod['spec'] as object), nodeName: 'node-1' } })
      const status = { phase: 'Running', podIP: `10.0.0.${bound.metadata.resourceVersion ?? ''}`, conditions: [ready] }
      api.update('pods', { ...bound, status }, { subresource: 'status' })
    }
  }
}
