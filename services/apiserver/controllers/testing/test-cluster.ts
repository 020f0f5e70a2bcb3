import { randomUUID } from 'node:crypto'
import { systemClock } from '#libs/kernel'
import type { KubeObject } from '#libs/kube-model'
import { onTestFinished } from 'vitest'
import type { ClusterApi } from '../../cluster-api.ts'
import { ResourceCatalog } from '../../discovery/resource-catalog.ts'
import { bootstrapCluster } from '../../registry/bootstrap.ts'
import { createEmbeddedApi } from '../../registry/embedded-api.ts'
import { bindPod } from '../../registry/pods.ts'
import { ServiceNetwork } from '../../registry/service-network.ts'
import { ClusterStore } from '../../storage/store.ts'
import { ServiceAccountTokens } from '../../tokens/service-account-tokens.ts'
import { nodeOf } from '../daemon-set.ts'
import { startControllers } from '../index.ts'

export type TestCluster = ClusterApi & {
  /** What the controllers complained about. */
  warnings: object[]
  bind(pod: KubeObject, node: string): void
}

/** A cluster in memory with running controllers; everything ends with the test. */
export function startTestCluster(options: { caCertificate?: string } = {}): TestCluster {
  const store = new ClusterStore({ file: ':memory:' })
  const network = new ServiceNetwork(store, {})
  const catalog = new ResourceCatalog()
  const tokens = new ServiceAccountTokens({ store, clock: systemClock, newUid: randomUUID })
  const cluster = {
    name: 'test',
    store,
    network,
    catalog,
    tokens,
    clock: systemClock,
    newUid: randomUUID,
    random: Math.random,
    closing: new AbortController().signal,
  }
  const api = createEmbeddedApi(cluster)
  bootstrapCluster(cluster, api, 443)
  const warnings: object[] = []
  const log = { debug: () => {}, warn: (fields: object) => void warnings.push(fields) }
  const controllers = startControllers(api, { clock: systemClock, log, resources: catalog, ...options })
  onTestFinished(() => {
    controllers.close()
    api.close()
    store.close()
  })
  const bind = ({ metadata: { namespace = '', name = '' } }: KubeObject, node: string): void =>
    bindPod(cluster, { namespace, name, binding: { metadata: { name }, target: { name: node } } }, { manager: 'test' })
  return { ...api, warnings, bind }
}

let addresses = 1

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

/** Plays the kubelet: pods that do not run yet run and are ready from now on; deleted ones go. */
export function runPods(api: TestCluster): void {
  for (const pod of api.list('pods')) {
    const { namespace, name = '' } = pod.metadata
    if (pod.metadata.deletionTimestamp !== undefined) {
      api.delete('pods', namespace, name, { gracePeriodSeconds: 0 })
    } else if (!isRunning(pod)) {
      api.bind(pod, nodeOf(pod) || 'node-1')
      const bound = api.get('pods', namespace, name)
      const ready = { type: 'Ready', status: 'True', lastTransitionTime: '2025-01-01T00:00:00Z' }
      const podIP = `10.0.${String(addresses >> 8)}.${String(addresses++ & 255)}`
      const status = { phase: 'Running', podIP, podIPs: [{ ip: podIP }], conditions: [ready] }
      if (bound !== undefined) api.update('pods', { ...bound, status }, { subresource: 'status' })
    }
  }
}

/** Whether the kubelet started the pod. */
export function isRunning(pod: KubeObject): boolean {
  return (pod['status'] as { phase?: string } | undefined)?.phase === 'Running'
}
