import type { Reason } from '#libs/events'
import { cloneJson } from '#libs/kernel'
import type { JsonObject } from '#libs/kube-model'
import { asName, asObject, presentFields } from '../../json.ts'
import type { PairInput, PairWrite } from '../../kind.ts'
import { type MetadataChanges, compareMetadata, metadataPatch, refOf } from '../../metadata.ts'
import { crossedFields, fieldTags, ownedFieldsPatch } from '../../owned-fields.ts'
import { patchHost, patchVirtual } from '../../patches.ts'
import { statusBase, statusLoop, statusWrites } from '../../shared-status.ts'
import { bindingBack, boundVolume } from './binding.ts'
import { shownAnnotations, specOf, withoutControllerAnnotations } from './fields.ts'
import { mutableFields } from './translate.ts'

/** The writes that bring a claim and its copy to agree. */
export function reconcileClaim(input: PairInput): PairWrite[] {
  const terminating = input.virtual.metadata.deletionTimestamp !== undefined
  const writes = terminating ? [] : fields(input)
  const desired = statusBack(input)
  return desired === undefined ? writes : [...writes, ...statusWrites(input, { desired })]
}

/** What keeps a claim and its copy bound to different volumes. */
export function claimDisagreement(input: PairInput): { reason: Reason; message: string } | undefined {
  const { virtual, host, related } = input
  const bound = asName(specOf(virtual).volumeName)
  const volume = boundVolume(host, related)
  if (bound === undefined || volume === undefined || bound === volume) {
    const desired = statusBack(input)
    return desired === undefined ? undefined : statusLoop(input, { desired })
  }
  const message = `it is bound to volume "${bound}" of this cluster, which is not the one that the host has given it`
  return { reason: 'Unsupported', message }
}

function fields(input: PairInput): PairWrite[] {
  const { virtual, host, base, tenant } = input
  const sides = { virtual: withoutControllerAnnotations(virtual), host: withoutControllerAnnotations(host), base }
  const metadata = compareMetadata(sides, { ref: refOf(virtual, 'persistentvolumeclaims'), tenant })
  const wanted = mutableFields(specOf(virtual))
  const toHost = metadataPatch(metadata.host)
  const spec = ownedFieldsPatch(mutableFields(specOf(host)), wanted, { crossed: crossedFields(base, 'spec') })
  if (toHost !== undefined || spec !== undefined) {
    const after = { ...metadata.baseAfterHost, ...statusBase(base), spec: fieldTags(wanted) }
    const given = { rule: 'update', base: after, overruled: metadata.overruled } as const
    return [patchHost(host, presentFields({ metadata: toHost, spec }) ?? {}, given)]
  }
  const body = presentFields({
    metadata: metadataPatch(withShown(metadata.virtual, shownAnnotations(virtual, host))),
    spec: bindingBack(input),
  })
  if (body === undefined) return []
  const after = { ...metadata.baseAfterVirtual, ...statusBase(base), spec: base?.spec ?? fieldTags(wanted) }
  return [patchVirtual(virtual, body, { rule: 'fieldsBack', base: after })]
}

function withShown(changes: MetadataChanges['virtual'], shown: Record<string, string>): MetadataChanges['virtual'] {
  return { ...changes, annotations: { ...changes.annotations, ...shown } }
}

/** Phase, capacity and what is under way. A claim is not called bound before it names its volume. */
function statusBack({ virtual, host }: PairInput): JsonObject | undefined {
  const status = asObject(host.status) ?? {}
  if (status.phase === undefined) return undefined
  if (status.phase === 'Bound' && asName(specOf(virtual).volumeName) === undefined) return undefined
  return cloneJson(status)
}
