import { type Json, type ObjectRef, RESOURCES, apiVersionOf, resourceToken } from '#libs/kube-model'
import type { PatchConfig } from '#libs/sync-config'
import { cloneJson } from '#libs/kernel'
import { asName, asObject } from '../json.ts'
import { type TenantPlace, hostName, hostNamespaceFor } from '../names.ts'
import { type Location, locate, parsePath, setAt, valueAt } from './path.ts'

export type ReferenceConfig = NonNullable<PatchConfig['reference']>

/** The resource of an API version and kind; `undefined` where we know none. */
export function referredResource(apiVersion: string, kind: string): string | undefined {
  // Any version of a group will do: names do not depend on it.
  const group = (text: string): string => (text.includes('/') ? (text.split('/')[0] ?? '') : '')
  const found = Object.values(RESOURCES).find(
    (resource) => resource.kind === kind && group(apiVersionOf(resource)) === group(apiVersion),
  )
  return found === undefined ? undefined : resourceToken(found)
}

/** The tenant's object that a value refers to, and where in the value its name is. */
export function referenceIn(
  value: Json,
  config: ReferenceConfig,
  namespace: string,
): { ref: ObjectRef; nameAt: Location } | undefined {
  const nameAt = placeIn(value, config.namePath) ?? []
  const name = asName(valueAt(value, nameAt))
  const textAt = (path: string | undefined): string | undefined => {
    const at = placeIn(value, path)
    return at === undefined ? undefined : asName(valueAt(value, at))
  }
  const apiVersion = textAt(config.apiVersionPath) ?? config.apiVersion
  const resource = referredResource(apiVersion, textAt(config.kindPath) ?? config.kind)
  if (name === undefined || resource === undefined) return undefined
  const isNamespaced = Object.values(RESOURCES).some((info) => info.namespaced && resourceToken(info) === resource)
  return {
    ref: { resource, namespace: isNamespaced ? (textAt(config.namespacePath) ?? namespace) : '', name },
    nameAt,
  }
}

/** The value with the name, and the namespace where it says one, that what it refers to has on the host. */
export function referenceOnHost(
  value: Json,
  config: ReferenceConfig,
  context: { namespace: string; tenant: TenantPlace },
): Json {
  const found = referenceIn(value, config, context.namespace)
  if (found === undefined) return value
  const name = hostName(found.ref, context.tenant.name)
  if (found.nameAt.length === 0) return name
  const translated = cloneJson(value)
  setAt(translated, found.nameAt, name)
  const namespaceAt = placeIn(value, config.namespacePath)
  if (namespaceAt !== undefined) {
    setAt(translated, namespaceAt, hostNamespaceFor(found.ref.namespace, context.tenant))
  }
  return translated
}

function placeIn(value: Json, path: string | undefined): Location | undefined {
  const parsed = path === undefined || asObject(value) === undefined ? undefined : parsePath(path)
  return parsed === undefined ? undefined : locate(value, parsed)[0]
}
