import { RESOURCES } from '#libs/kube-model'
import type { Mirror } from '../../kind.ts'
import { decideNode } from './decide-node.ts'

/** A tenant sees the nodes that its pods run on. */
export const nodes: Mirror = {
  resource: RESOURCES.nodes,
  version: 1,
  // Pods cannot be shown on nodes that are not there, whatever else of the host's nodes the tenant is to see.
  isEnabled: () => true,
  onlyWhileUsed: true,
  virtualWrites: ['create', 'patch', 'patch/status', 'delete'],
  decide: decideNode,
}
