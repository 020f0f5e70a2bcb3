import type { JsonObject, KubeObject } from '#libs/kube-model'
import { asName, asObject, textOf } from '../../../json.ts'
import { containersOf, specOf } from '../fields.ts'

/** One control of a Pod Security Standard that a pod does not keep, in the words of Kubernetes' admission. */
export type Finding = { reason: string; detail: string }

/** Looks at one control; `undefined` when the pod keeps it. */
export type Control = (pod: KubeObject) => Finding | undefined

/** The security context of a pod or container; empty where there is none. */
export function securityContextOf(holder: JsonObject): JsonObject {
  return asObject(holder.securityContext) ?? {}
}

/** Names of the containers, of whichever list, that meet a condition. */
export function containersWhere(pod: KubeObject, condition: (container: JsonObject) => boolean): string[] {
  return containersOf(specOf(pod))
    .filter(condition)
    .map(({ name }) => textOf(name))
}

/** Who sets something: the pod, containers, or both. Empty for nobody. */
export function setters(isPod: boolean, containers: readonly string[]): string[] {
  return [...(isPod ? ['pod'] : []), ...(containers.length === 0 ? [] : [counted('container', containers)])]
}

/** `volume "a"`, `volumes "a", "b"`. */
export function counted(noun: string, names: readonly string[]): string {
  return `${plural(noun, names)} ${quoted(names)}`
}

export function plural(noun: string, items: readonly unknown[]): string {
  return items.length === 1 ? noun : `${noun}s`
}

export function uses(items: readonly unknown[]): string {
  return items.length === 1 ? 'uses' : 'use'
}

export function quoted(names: readonly string[]): string {
  return names.map((name) => JSON.stringify(name)).join(', ')
}

/** Values without repeats, sorted. */
export function distinct(values: Iterable<string>): string[] {
  return [...new Set(values)].toSorted()
}

/** Whether the pod says that it is for Windows, of which some controls do not speak. */
export function isWindows(pod: KubeObject): boolean {
  return asName(asObject(specOf(pod).os)?.name) === 'windows'
}

/** Whether the pod's users are none of the node's, which relaxes what they may be. */
export function hasOwnUsers(pod: KubeObject): boolean {
  return specOf(pod).hostUsers === false
}
