import type { KubeObject } from '#libs/kube-model'
import type { ClusterApi } from '../cluster-api.ts'
import type { Cluster } from './cluster.ts'

const NAMESPACES = ['default', 'kube-node-lease', 'kube-public', 'kube-system']

/** Makes what every cluster has from the start; what is there already stays as it is. */
export function bootstrapCluster(cluster: Cluster, api: ClusterApi, port: number): void {
  for (const name of NAMESPACES) {
    if (api.get('namespaces', undefined, name) === undefined) {
      api.create('namespaces', undefined, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
    }
  }
  const service = api.get('services', 'default', 'kubernetes')
  if (service === undefined) {
    api.create('services', 'default', kubernetesService(cluster, port))
  } else if (!(service['spec'] as { clusterIP?: string }).clusterIP) {
    // Earlier versions left it open as well.
    const { spec } = kubernetesService(cluster, port) as KubeObject & { spec: object }
    api.update('services', { ...service, spec: { ...(service['spec'] as object), ...spec } })
  }
}

/** The Service under which pods find the API. */
function kubernetesService(cluster: Cluster, port: number): KubeObject {
  const address = cluster.network.firstAddress
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'kubernetes', namespace: 'default', labels: { component: 'apiserver', provider: 'kubernetes' } },
    spec: {
      ports: [{ name: 'https', port: 443, targetPort: port }],
      clusterIP: address,
    },
  }
}
