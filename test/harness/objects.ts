import { randomBytes } from 'node:crypto'
import type { KubeObject } from '#libs/kube-model'

type PodStatus = {
  phase?: string
  podIP?: string
  conditions?: { type: string; status: string }[]
}
export type PodSpec = {
  nodeName?: string
  volumes?: Record<string, { name?: string; secretName?: string }>[]
  containers: { env?: object[]; envFrom?: object[]; image?: string }[]
}

/** A name that no other test uses. */
export function unique(prefix: string): string {
  return `${prefix}-${randomBytes(3).toString('hex')}`
}

export type PodOptions = {
  labels?: Record<string, string>
  /** Mounted as volumes. */
  configMap?: string
  secret?: string
  graceSeconds?: number
}

/** A pod that runs for ever. */
export function podOf(namespace: string, name: string, options: PodOptions = {}): KubeObject {
  const { labels, configMap, secret, graceSeconds = 1 } = options
  const volumes = [
    ...(configMap === undefined ? [] : [{ name: 'config', configMap: { name: configMap } }]),
    ...(secret === undefined ? [] : [{ name: 'secret', secret: { secretName: secret } }]),
  ]
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace, name, ...(labels === undefined ? {} : { labels }) },
    spec: {
      terminationGracePeriodSeconds: graceSeconds,
      containers: [
        {
          name: 'main',
          image: 'registry.k8s.io/pause:3.10',
          volumeMounts: volumes.map((volume) => ({ name: volume.name, mountPath: `/etc/${volume.name}` })),
        },
      ],
      volumes,
    },
  }
}

export function configMapOf(namespace: string, name: string, data: Record<string, string>): KubeObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace, name }, data }
}

export function secretOf(namespace: string, name: string, data: Record<string, string>): KubeObject {
  const encoded = Object.entries(data).map(([key, value]) => [key, Buffer.from(value).toString('base64')])
  return { apiVersion: 'v1', kind: 'Secret', metadata: { namespace, name }, data: Object.fromEntries(encoded) }
}

export function deploymentOf(namespace: string, name: string, replicas: number): KubeObject {
  const labels = { app: name }
  const { spec } = podOf(namespace, name)
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { namespace, name },
    spec: { replicas, selector: { matchLabels: labels }, template: { metadata: { labels }, spec } },
  }
}

function statusOf(pod: KubeObject): PodStatus {
  return (pod['status'] ?? {}) as PodStatus
}

export function specOf(pod: KubeObject): PodSpec {
  return pod['spec'] as PodSpec
}

export function isRunning(pod: KubeObject): boolean {
  return statusOf(pod).phase === 'Running' && pod.metadata.deletionTimestamp === undefined
}

/** What must be equal on both sides. */
export function shownState(pod: KubeObject): object {
  const { phase, podIP, conditions = [] } = statusOf(pod)
  const said = conditions.map(({ type, status }) => `${type}=${status}`).toSorted()
  return { phase, podIP, node: specOf(pod).nodeName, conditions: said }
}
