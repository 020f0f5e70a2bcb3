import type { KubeObject } from '#libs/kube-model'
import type { Cluster } from '../harness/cluster.ts'
import { podOf } from '../harness/objects.ts'
import type { ApiObject } from './api-request.ts'
import { hostNameOf, hostNamespaceOf } from './host-names.ts'
import { placeOf } from './oracle.ts'
import { BLOCKED, NAMESPACES, WORK_KINDS } from './workload.ts'

/**
 * Puts objects that are somebody else's into the tenants' host namespaces: without stamps, with a stamp alone that
 * anybody can write, and under names that copies are to have.
 * @returns them by their place, as they are once they are at rest
 */
export async function plantForeign(host: Cluster, tenants: readonly string[]): Promise<Map<string, ApiObject>> {
  const planted = new Map<string, ApiObject>()
  await Promise.all(
    tenants.map(async (tenant) => {
      const namespace = hostNamespaceOf(tenant)
      await host.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
      const taken = hostNameOf(tenant, { namespace: NAMESPACES[0] ?? '', name: BLOCKED })
      const labels = { 'causeway.dev/tenant': tenant }
      for (const object of [
        object_('ConfigMap', namespace, 'foreign', { data: { counter: '0' } }),
        object_('ConfigMap', namespace, 'foreign-labelled', { data: { counter: '0' } }, labels),
        object_('Secret', namespace, 'foreign', { data: {} }),
        object_('Service', namespace, 'foreign', { spec: { ports: [{ port: 80 }] } }),
        object_('Service', namespace, taken, { spec: { ports: [{ port: 80 }] } }),
        object_('PersistentVolumeClaim', namespace, 'foreign', {
          spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
        }),
        podOf(namespace, 'foreign'),
        podOf(namespace, taken, { labels }),
      ]) {
        await host.create(object)
      }
      await host.untilAll('pods', namespace, (pods) => pods.length === 2 && pods.every(isSettled))
      await host.untilAll('persistentvolumeclaims', namespace, (claims) => claims.every(isBound))
      for (const kind of WORK_KINDS) {
        for (const object of (await host.list(kind, namespace)) as unknown as ApiObject[]) {
          if (object.metadata.name !== 'kube-root-ca.crt') planted.set(placeOf(kind, object), object)
        }
      }
    }),
  )
  return planted
}

function object_(
  kind: string,
  namespace: string,
  name: string,
  rest: Record<string, unknown>,
  labels?: Record<string, string>,
): KubeObject {
  const metadata = { namespace, name, ...(labels === undefined ? {} : { labels }) }
  return { apiVersion: 'v1', kind, metadata, ...rest }
}

function isSettled(pod: KubeObject): boolean {
  const { phase, conditions = [] } = (pod['status'] ?? {}) as { phase?: string; conditions?: { type: string }[] }
  return phase === 'Running' && conditions.some(({ type }) => type === 'Ready')
}

function isBound(claim: KubeObject): boolean {
  return (claim['status'] as { phase?: string } | undefined)?.phase === 'Bound'
}
