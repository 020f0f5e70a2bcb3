import type { KubeObject, ObjectRef } from '#libs/kube-model'
import { decide } from './decide.ts'
import type { Decision } from './decision.ts'
import type { Kind } from './kind.ts'
import { configMaps } from './kinds/configmaps/configmaps.ts'
import { pods } from './kinds/pods/pods.ts'
import { secrets } from './kinds/secrets/secrets.ts'
import { services } from './kinds/services/services.ts'
import { NODE_VERSION, decideNode } from './mirrors/nodes/decide-node.ts'
import type { View } from './view.ts'

/** The kinds that cross from the tenant to the host, by resource token. Adding a kind is a folder and a line here. */
export const KINDS: Readonly<Record<string, Kind>> = {
  configmaps: configMaps,
  secrets,
  services,
  pods,
}

/** The order in which the keys of one batch are decided, so that what a pod needs is written before the pod. */
export const DECIDE_ORDER: readonly string[] = ['nodes', 'configmaps', 'secrets', 'services', 'pods']

/** Changes whenever some kind's decisions do: replays of old events are explained by it. */
export const TRANSLATOR_VERSION = [...Object.entries(KINDS), ['nodes', { version: NODE_VERSION }] as const]
  .map(([resource, { version }]) => `${resource}=${version}`)
  .join(',')

/** The kind of a resource that crosses from the tenant to the host. */
export function kindFor(resource: string): Kind | undefined {
  return Object.hasOwn(KINDS, resource) ? KINDS[resource] : undefined
}

/** Whether objects of this resource are the tenant's view of host objects of the same name. */
export function isMirrored(resource: string): boolean {
  return resource === 'nodes'
}

/** Whether objects of this resource have decisions at all; others are only read. */
export function isDecided(resource: string): boolean {
  return isMirrored(resource) || kindFor(resource) !== undefined
}

/** Decides about one virtual key, whatever its kind. A resource that does not cross has no decisions. */
export function decideFor(view: View): Decision[] {
  if (isMirrored(view.key.resource)) return decideNode(view)
  const kind = kindFor(view.key.resource)
  return kind === undefined ? [] : decide(view, kind)
}

/** Virtual objects that an object of this resource refers to, read from its two sides as far as they are there. */
export function referencesOf(
  resource: string,
  pair: { virtual?: KubeObject | undefined; host?: KubeObject | undefined },
): ObjectRef[] {
  return kindFor(resource)?.references(pair) ?? []
}
