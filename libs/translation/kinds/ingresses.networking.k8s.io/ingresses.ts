import { type KubeObject, RESOURCES } from '#libs/kube-model'
import { isEnabled } from '#libs/sync-config'
import { asObject } from '../../json.ts'
import type { PairInput } from '../../kind.ts'
import { ownedKind } from '../owned-kind.ts'
import { holdsName } from './annotations.ts'
import { ingressReferences } from './references.ts'
import { ingressContent } from './translate.ts'

/** Ingresses cross with the names that they hold; the load balancer's addresses and a class that the host chose come back. */
export const ingresses = ownedKind({
  resource: RESOURCES['ingresses.networking.k8s.io'],
  version: 2,
  isEnabled: (config) => isEnabled(config, 'toHost', 'ingresses'),
  refersTo: ['secrets', 'configmaps'],
  references: ({ virtual }) => (virtual === undefined ? [] : ingressReferences(virtual)),
  requiredReferences: ingressReferences,
  ownsKey: holdsName,
  twoWay: ['ingressClassName'],
  content: ingressContent,
  status: statusBack,
})

function statusBack({ virtual, host }: PairInput) {
  const isSilent = (object: KubeObject): boolean => {
    const balancer = asObject(asObject(object.status)?.loadBalancer)
    return balancer === undefined || Object.keys(balancer).length === 0
  }
  // An empty load balancer says as much as none.
  return isSilent(virtual) && isSilent(host)
    ? undefined
    : { loadBalancer: asObject(asObject(host.status)?.loadBalancer) ?? {} }
}
