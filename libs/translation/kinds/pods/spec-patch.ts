import { cloneJson, jsonEqual } from '#libs/kernel'
import type { JsonObject, KubeObject } from '#libs/kube-model'
import { asName, asObject, objectsIn, stringMap, textOf } from '../../json.ts'
import type { PairInput } from '../../kind.ts'
import { plainTag } from '../../three-way.ts'
import { containersOf, specOf } from './fields.ts'
import { resourcesBase } from './resources-base.ts'
import { hostImage, missingTolerations, wantedNodeLabels } from './placement.ts'

/** What of the spec a base holds: the tenant's values as they crossed, by which later changes are told. */
export function specBase(virtual: KubeObject): JsonObject {
  const images = containersOf(specOf(virtual)).map(({ name, image }) => [textOf(name), textOf(image)])
  const affinity = nodeAffinityOf(virtual)
  const resources = resourcesBase(virtual)
  return {
    gates: gatesOf(virtual),
    images: Object.fromEntries(images) as JsonObject,
    ...(Object.keys(resources).length === 0 ? {} : { resources }),
    ...(affinity === undefined ? {} : { nodeAffinity: plainTag(JSON.stringify(affinity)) }),
  }
}

/** The few fields of a pod's spec that the API lets change, as a strategic merge patch. */
export function specPatch(input: PairInput): JsonObject | undefined {
  const from = specOf(input.virtual)
  const to = specOf(input.host)
  const patch: JsonObject = {}
  for (const list of ['containers', 'initContainers'] as const) {
    const images = changedImages(input, list)
    if (images.length > 0) patch[list] = images
  }
  const deadline = from.activeDeadlineSeconds
  if (deadline !== undefined && deadline !== to.activeDeadlineSeconds) patch.activeDeadlineSeconds = deadline
  const asked = objectsIn(from.tolerations).filter(
    (wanted) => !objectsIn(to.tolerations).some((present) => jsonEqual(present, wanted)),
  )
  const missing = [...asked, ...missingTolerations([...objectsIn(to.tolerations), ...asked], input.tenant.config)]
  // Tolerations can only be added: those that the host has of its own stay.
  if (missing.length > 0) patch.tolerations = [...objectsIn(to.tolerations), ...missing]
  const lifted = liftedGates(input)
  if (lifted.length > 0) patch.schedulingGates = lifted.map((name) => ({ $patch: 'delete', name }))
  // Only while nothing schedules it may a pod be told where to run.
  if (gatesOf(input.host).length > 0) Object.assign(patch, placement(input))
  return Object.keys(patch).length === 0 ? undefined : patch
}

/**
 * By name, so that containers which webhooks of the host added stay as they are. An image that the tenant has not
 * changed since it crossed is left alone too: where it differs, a webhook of the host rewrote it.
 */
function changedImages(
  { virtual, host, base, tenant }: PairInput,
  list: 'containers' | 'initContainers',
): JsonObject[] {
  const crossed = asObject(base?.images)
  const present = new Map(objectsIn(specOf(host)[list]).map((container) => [container.name, container.image]))
  return objectsIn(specOf(virtual)[list]).flatMap(({ name, image }) => {
    if (typeof name !== 'string' || typeof image !== 'string' || !present.has(name)) return []
    const wanted = hostImage(image, tenant.config)
    return present.get(name) === wanted || crossed?.[name] === image ? [] : [{ name, image: wanted }]
  })
}

/** Gates that the tenant's pod had and has no more; gates that the host added are its own. */
function liftedGates({ virtual, host, base }: PairInput): string[] {
  const had = base?.gates
  const has = gatesOf(virtual)
  return gatesOf(host).filter((gate) => (!Array.isArray(had) || had.includes(gate)) && !has.includes(gate))
}

/** What a pod may still be told about its node while it is gated: selectors added, and its node affinity. */
function placement(input: PairInput): JsonObject {
  const { virtual, host, base } = input
  const wanted = wantedNodeLabels(input)
  const present = stringMap(specOf(host).nodeSelector)
  const added = Object.entries(wanted).filter(([key, value]) => present[key] !== value)
  const affinity = nodeAffinityOf(virtual)
  const isNew = affinity !== undefined && base?.nodeAffinity !== plainTag(JSON.stringify(affinity))
  return {
    ...(added.length === 0 ? {} : { nodeSelector: Object.fromEntries(added) }),
    ...(isNew && !jsonEqual(affinity, nodeAffinityOf(host))
      ? { affinity: { nodeAffinity: { $patch: 'replace', ...cloneJson(affinity) } } }
      : {}),
  }
}

function nodeAffinityOf(pod: KubeObject): JsonObject | undefined {
  return asObject(asObject(specOf(pod).affinity)?.nodeAffinity)
}

/** The names of a pod's scheduling gates. */
function gatesOf(pod: KubeObject): string[] {
  return objectsIn(specOf(pod).schedulingGates).flatMap((gate) => asName(gate.name) ?? [])
}
