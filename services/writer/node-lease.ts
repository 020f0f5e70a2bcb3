import { isAlreadyExists, isNotFound } from '#libs/kube'
import type { KubeObject, ResourceInfo } from '#libs/kube-model'
import type { WriterClient } from './ports.ts'

/** https://kubernetes.io/docs/concepts/architecture/leases/#node-heart-beats */
const LEASES: ResourceInfo = {
  group: 'coordination.k8s.io',
  version: 'v1',
  plural: 'leases',
  kind: 'Lease',
  namespaced: true,
}

const LEASE_NAMESPACE = 'kube-node-lease'

/** As kubelets have it. */
const LEASE_SECONDS = 40

type Node = { name: string; uid: string }

/**
 * Renews the lease of a node, or makes the first.
 * @throws what the client throws
 */
export async function beat(
  client: WriterClient,
  node: Node,
  now: number,
  options: { signal: AbortSignal; timeoutMs: number },
): Promise<'renewed' | 'created'> {
  const spec = leaseSpec(node, now)
  const target = { namespace: LEASE_NAMESPACE, name: node.name }
  const renew = (): Promise<KubeObject> => client.patch(LEASES, target, { spec }, { ...options, type: 'merge' })
  try {
    await renew()
    return 'renewed'
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
  try {
    await client.create(LEASES, target, leaseOf(node, spec), options)
    return 'created'
  } catch (error) {
    if (!isAlreadyExists(error)) throw error
    await renew()
    return 'renewed'
  }
}

type LeaseSpec = { holderIdentity: string; leaseDurationSeconds: number; renewTime: string }

function leaseSpec({ name }: Node, now: number): LeaseSpec {
  // MicroTime: six digits.
  const renewTime = new Date(now).toISOString().replace('Z', '000Z')
  return { holderIdentity: name, leaseDurationSeconds: LEASE_SECONDS, renewTime }
}

/** It goes with its node. */
function leaseOf({ name, uid }: Node, spec: LeaseSpec): KubeObject {
  const ownerReferences = [{ apiVersion: 'v1', kind: 'Node', name, uid }]
  return {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name, namespace: LEASE_NAMESPACE, ownerReferences },
    spec,
  }
}
