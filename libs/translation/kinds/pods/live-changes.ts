import { cloneJson, jsonEqual } from '#libs/kernel'
import type { JsonObject, KubeObject } from '#libs/kube-model'
import { asName, asObject, objectsIn, textOf } from '../../json.ts'
import type { PairInput, PairWrite } from '../../kind.ts'
import { patchHost } from '../../patches.ts'
import { specOf } from './fields.ts'
import { RESIZABLE, resourcesBase, resourcesTag } from './resources-base.ts'
import { policyProblem } from './security/judge.ts'
import { translateContainers } from './translate.ts'

/**
 * Resizes containers whose resources the tenant has changed since they crossed; where the host differs otherwise, it has
 * defaults or scaling of its own.
 */
export function resizeWrite({ virtual, host, base }: PairInput): PairWrite | undefined {
  const crossed = asObject(base?.resources)
  const patch: JsonObject = {}
  for (const list of RESIZABLE) {
    const changed = objectsIn(specOf(virtual)[list]).flatMap(({ name, resources }) => {
      const present = objectsIn(specOf(host)[list]).find((container) => container.name === name)
      if (present === undefined || asObject(resources) === undefined) return []
      const isKnown = crossed?.[textOf(name)] === resourcesTag(resources)
      return isKnown || isWithin(resources, present.resources)
        ? []
        : [{ name: textOf(name), resources: cloneJson(asObject(resources) ?? {}) }]
    })
    if (changed.length > 0) patch[list] = changed
  }
  if (Object.keys(patch).length === 0) return undefined
  const after = { ...base, resources: resourcesBase(virtual) }
  const options = { rule: 'update', patchType: 'strategic', subresource: 'resize', base: after } as const
  return patchHost(host, { spec: patch }, options)
}

/** Adds the ephemeral containers that the tenant has added, unless its policy forbids what the pod is with them. */
export function ephemeralWrite(input: PairInput): PairWrite | undefined {
  const { virtual, host } = input
  const added = addedEphemeral(virtual, host)
  if (added.length === 0 || forbiddenChange(input) !== undefined) return undefined
  const containers = translateContainers(cloneJson(added), input)
  const options = { rule: 'update', patchType: 'strategic', subresource: 'ephemeralcontainers' } as const
  return patchHost(host, { spec: { ephemeralContainers: containers } }, options)
}

/** Why a pod that runs is not changed as the tenant asks, as a sentence. That it runs is not undone. */
export function forbiddenChange({ virtual, host, tenant }: PairInput): string | undefined {
  if (addedEphemeral(virtual, host).length === 0) return undefined
  return policyProblem(virtual, tenant.config.policies.podSecurityStandard)
}

function addedEphemeral(virtual: KubeObject, host: KubeObject): JsonObject[] {
  const present = objectsIn(specOf(host).ephemeralContainers).map(({ name }) => name)
  return objectsIn(specOf(virtual).ephemeralContainers).filter(
    ({ name }) => asName(name) !== undefined && !present.includes(name ?? null),
  )
}

/** Whether all that is asked for is so. */
function isWithin(wanted: unknown, present: unknown): boolean {
  const there = asObject(present) ?? {}
  return Object.entries(asObject(wanted) ?? {}).every(([field, value]) => {
    const inner = asObject(value)
    return inner === undefined ? jsonEqual(value, there[field]) : isWithin(inner, there[field])
  })
}
