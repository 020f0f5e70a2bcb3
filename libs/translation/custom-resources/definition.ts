import type { JsonObject, KubeObject } from '#libs/kube-model'
import { asName, asObject, objectsIn } from '../json.ts'

/** What translation reads of the definition of a custom resource. */
export type Definition = { kind: string; namespaced: boolean; versions: { name: string; hasStatus: boolean }[] }

/** Reads a definition; only versions that are served count. */
export function readDefinition(object: KubeObject): Definition {
  const spec = asObject(object.spec)
  return {
    kind: asName(asObject(spec?.names)?.kind) ?? '',
    namespaced: spec?.scope !== 'Cluster',
    versions: servedVersions(object).map((version) => ({
      name: asName(version.name) ?? '',
      hasStatus: asObject(asObject(version.subresources)?.status) !== undefined,
    })),
  }
}

/** The versions that a definition serves, the one that APIs prefer first. */
export function servedVersions(object: KubeObject): JsonObject[] {
  return objectsIn(asObject(object.spec)?.versions)
    .filter(({ served }) => served === true)
    .toSorted((a, b) => compareVersions(asName(a.name) ?? '', asName(b.name) ?? ''))
}

/** Whether an API serves what a definition says. */
export function isEstablished(object: KubeObject): boolean {
  const conditions = objectsIn(asObject(object.status)?.conditions)
  return conditions.some(({ type, status }) => type === 'Established' && status === 'True')
}

/** The version in an object's `apiVersion`. */
export function versionOf({ apiVersion = '' }: KubeObject): string {
  return apiVersion.slice(apiVersion.indexOf('/') + 1)
}

const VERSION = /^v(\d+)(?:(alpha|beta)(\d+))?$/

/** The order in which APIs prefer versions: stable ones, beta, alpha, the latest of each first; then others by name. */
function compareVersions(a: string, b: string): number {
  const [left, right] = [rank(a), rank(b)]
  const place = left.findIndex((part, index) => part !== right[index])
  if (place >= 0) return (right[place] ?? 0) - (left[place] ?? 0)
  return a < b ? -1 : a > b ? 1 : 0
}

function rank(version: string): number[] {
  const [, major, stage, minor] = VERSION.exec(version) ?? []
  if (major === undefined) return [0, 0, 0]
  return [stage === undefined ? 3 : stage === 'beta' ? 2 : 1, Number(major), Number(minor ?? 0)]
}
