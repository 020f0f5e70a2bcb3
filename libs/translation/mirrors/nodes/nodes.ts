import { RESOURCES } from '#libs/kube-model'
import type { Mirror } from '../../kind.ts'
import { decideNode } from './decide-node.ts'
import { showsUnusedNodes } from './shown-nodes.ts'

/** A tenant sees the nodes that its pods run on, and those that its configuration shows it. */
export const nodes: Mirror = {
  resource: RESOURCES.nodes,
  version: 2,
  // Pods cannot be shown on nodes that are not there, whatever else of the host's nodes the tenant is to see.
  isEnabled: () => true,
  onlyWhileUsed: true,
  showsUnused: showsUnusedNodes,
  virtualWrites: ['create', 'patch', 'patch/status', 'delete'],
  decide: decideNode,
}
