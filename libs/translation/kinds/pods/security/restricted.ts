import type { JsonObject } from '#libs/kube-model'
import { asObject, objectsIn, textOf } from '../../../json.ts'
import { containersOf, specOf } from '../fields.ts'
import {
  addedCapabilities,
  forbiddenSeccomp,
  isConfinedBySeccomp,
  mustNotAdd,
  mustNotSetSeccomp,
  seccompTypeOf,
} from './baseline.ts'
import {
  type Control,
  containersWhere,
  counted,
  distinct,
  hasOwnUsers,
  isWindows,
  securityContextOf,
  setters,
  uses,
} from './finding.ts'

const VOLUME_TYPES = [
  'configMap',
  'csi',
  'downwardAPI',
  'emptyDir',
  'ephemeral',
  'image',
  'persistentVolumeClaim',
  'projected',
  'secret',
] as const

export const allowPrivilegeEscalation: Control = (pod) => {
  if (isWindows(pod)) return undefined
  const containers = containersWhere(
    pod,
    (container) => securityContextOf(container).allowPrivilegeEscalation !== false,
  )
  return containers.length === 0
    ? undefined
    : {
        reason: 'allowPrivilegeEscalation != false',
        detail: `${counted('container', containers)} must set securityContext.allowPrivilegeEscalation=false`,
      }
}

export const droppedCapabilities: Control = (pod) => {
  if (isWindows(pod)) return undefined
  const keeping = containersWhere(pod, (container) => {
    const drop = asObject(securityContextOf(container).capabilities)?.drop
    return !Array.isArray(drop) || !drop.includes('ALL')
  })
  const added = (container: JsonObject): string[] =>
    addedCapabilities(container).filter((capability) => capability !== 'NET_BIND_SERVICE')
  const adding = containersWhere(pod, (container) => added(container).length > 0)
  const details = [
    ...(keeping.length === 0
      ? []
      : [`${counted('container', keeping)} must set securityContext.capabilities.drop=["ALL"]`]),
    ...(adding.length === 0 ? [] : [mustNotAdd(adding, containersOf(specOf(pod)).flatMap(added))]),
  ]
  return details.length === 0 ? undefined : { reason: 'unrestricted capabilities', detail: details.join('; ') }
}

export const volumeTypes: Control = (pod) => {
  const volumes = objectsIn(specOf(pod).volumes).filter((volume) =>
    VOLUME_TYPES.every((type) => asObject(volume[type]) === undefined),
  )
  if (volumes.length === 0) return undefined
  const names = volumes.map(({ name }) => textOf(name))
  const types = volumes.map((volume) => Object.keys(volume).find((field) => field !== 'name') ?? 'unknown')
  const used = counted('restricted volume type', distinct(types))
  return { reason: 'restricted volume types', detail: `${counted('volume', names)} ${uses(names)} ${used}` }
}

export const runAsNonRoot: Control = (pod) => {
  if (hasOwnUsers(pod)) return undefined
  const spec = specOf(pod)
  const valueOf = (holder: JsonObject): unknown => securityContextOf(holder).runAsNonRoot
  const reason = 'runAsNonRoot != true'
  const isRefusing = (holder: JsonObject): boolean => valueOf(holder) === false
  const who = setters(isRefusing(spec), containersWhere(pod, isRefusing))
  if (who.length > 0) return { reason, detail: `${who.join(' and ')} must not set securityContext.runAsNonRoot=false` }
  const silent = containersWhere(pod, (container) => valueOf(container) == null && valueOf(spec) !== true)
  if (silent.length === 0) return undefined
  return { reason, detail: `pod or ${counted('container', silent)} must set securityContext.runAsNonRoot=true` }
}

export const runAsUser: Control = (pod) => {
  if (hasOwnUsers(pod)) return undefined
  const isRoot = (holder: JsonObject): boolean => securityContextOf(holder).runAsUser === 0
  const who = setters(isRoot(specOf(pod)), containersWhere(pod, isRoot))
  return who.length === 0
    ? undefined
    : { reason: 'runAsUser=0', detail: `${who.join(' and ')} must not set runAsUser=0` }
}

export const seccompRequired: Control = (pod) => {
  if (isWindows(pod)) return undefined
  const { who, values } = forbiddenSeccomp(pod)
  if (who.length > 0) return mustNotSetSeccomp(who, values)
  const isConfined = (holder: JsonObject): boolean => isConfinedBySeccomp(seccompTypeOf(holder) ?? '')
  if (isConfined(specOf(pod))) return undefined
  const silent = containersWhere(pod, (container) => !isConfined(container))
  if (silent.length === 0) return undefined
  return {
    reason: 'seccompProfile',
    detail: `pod or ${counted('container', silent)} must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"`,
  }
}
