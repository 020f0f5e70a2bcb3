import type { KubeObject, ObjectRef } from '#libs/kube-model'
import { decide } from './decide.ts'
import type { Decision } from './decision.ts'
import type { Kind, Mirror } from './kind.ts'
import { configMaps } from './kinds/configmaps/configmaps.ts'
import { pods } from './kinds/pods/pods.ts'
import { secrets } from './kinds/secrets/secrets.ts'
import { services } from './kinds/services/services.ts'
import { nodes } from './mirrors/nodes/nodes.ts'
import type { View } from './view.ts'

/**
 * The kinds that cross from the tenant to the host, by resource token. Adding a kind is a folder and a line here: what
 * is watched, written and decided follows. Those that others need stand before them: this is the order of deciding.
 */
export const KINDS: Readonly<Record<string, Kind>> = {
  configmaps: configMaps,
  secrets,
  services,
  pods,
}

/** The kinds whose originals are on the host and of which tenants get copies, by resource token. */
export const MIRRORS: Readonly<Record<string, Mirror>> = {
  nodes,
}

/** The order in which the keys of one batch are decided, so that what a pod needs is written before the pod. */
export const DECIDE_ORDER: readonly string[] = [...Object.keys(MIRRORS), ...Object.keys(KINDS)]

/** Changes whenever some kind's decisions do: replays of old events are explained by it. */
export const TRANSLATOR_VERSION = [...Object.entries(MIRRORS), ...Object.entries(KINDS)]
  .map(([resource, { version }]) => `${resource}=${version}`)
  .join(',')

/** The kind of a resource that crosses from the tenant to the host. */
export function kindFor(resource: string): Kind | undefined {
  return Object.hasOwn(KINDS, resource) ? KINDS[resource] : undefined
}

/** The kind of a resource of which tenants get copies of the host's objects. */
export function mirrorFor(resource: string): Mirror | undefined {
  return Object.hasOwn(MIRRORS, resource) ? MIRRORS[resource] : undefined
}

/** Whether objects of this resource are the tenant's view of host objects of the same name. */
export function isMirrored(resource: string): boolean {
  return mirrorFor(resource) !== undefined
}

/** Whether objects of this resource have decisions at all; others are only read. */
export function isDecided(resource: string): boolean {
  return isMirrored(resource) || kindFor(resource) !== undefined
}

/** Decides about one virtual key, whatever its kind. A resource that does not cross has no decisions. */
export function decideFor(view: View): Decision[] {
  const mirror = mirrorFor(view.key.resource)
  if (mirror !== undefined) return mirror.decide(view)
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
