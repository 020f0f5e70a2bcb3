import { cloneJson } from '#libs/kernel'
import { type Json, type JsonObject, type KubeObject, type ObjectRef, resourceToken } from '#libs/kube-model'
import { type Direction, type PatchConfig, type TenantConfig, patchesOf } from '#libs/sync-config'
import type { Decision } from '../decision.ts'
import { asObject } from '../json.ts'
import type { Kind, Mirror, PairInput, PairWrite, Report, ReportInput, ToHost, TranslateInput } from '../kind.ts'
import { refOf } from '../metadata.ts'
import { patchHost } from '../patches.ts'
import type { TenantContext, View } from '../view.ts'
import { type ConfiguredPatch, type PatchContext, configuredPatch, patchContext } from './configured-patch.ts'
import { type Seen, seeThrough } from './lens.ts'
import { locate, setAt, valueAt } from './path.ts'
import { referenceIn } from './reference.ts'
import { rewriteBody, withCorrections } from './rewrite.ts'

/** Where a base keeps what patched values both sides agreed on. */
const BASE_FIELD = 'patched'

/** The configurations of tenants are shared and never change, so what is made of their patches is kept with them. */
const known = new WeakMap<readonly PatchConfig[], ConfiguredPatch[]>()

function patchesFor(tenant: TenantContext, direction: Direction, resource: string): readonly ConfiguredPatch[] {
  const configs = patchesOf(tenant.config, direction, resource)
  if (configs.length === 0) return []
  let patches = known.get(configs)
  if (patches === undefined) {
    patches = configs.flatMap((config) => configuredPatch(config, tenant) ?? [])
    known.set(configs, patches)
  }
  return patches
}

/**
 * A kind whose copies are patched as the tenant's configuration says. The kind itself knows nothing of it: it is shown a
 * host copy without patches, and what it writes is patched on its way out.
 * @param base what both sides agreed on: it tells of patches that the configuration has no more
 */
export function withPatches(kind: Kind, tenant: TenantContext, base?: JsonObject): Kind {
  const resource = resourceToken(kind.resource)
  const patches = patchesFor(tenant, 'toHost', resource)
  const isPatched = Object.keys(asObject(base?.[BASE_FIELD]) ?? {}).length > 0
  if (patches.length === 0 && !isPatched) return kind
  return {
    ...kind,
    references: (pair) => [...kind.references(pair), ...patchReferences(patches, pair)],
    toHost: (input) => toHost(kind, patches, input),
    reconcile: (input) => reconcile(kind, patches, input),
    disagreement: (input) => kind.disagreement?.(input) ?? disagreementOf(see(kind, patches, input)),
  }
}

/** What a patch of the configuration makes objects of this resource refer to, besides what their kind says. */
export function configuredReferences(
  tenant: TenantContext,
  resource: string,
  pair: { virtual?: KubeObject | undefined; host?: KubeObject | undefined },
): ObjectRef[] {
  return patchReferences(patchesFor(tenant, 'toHost', resource), pair)
}

/** Whether objects of a kind may refer to those of a resource because of a patch. */
export function refersByPatch(config: TenantConfig, kind: Kind, resource: string): boolean {
  return patchesOf(config, 'toHost', resourceToken(kind.resource)).some(({ reference }) => {
    if (reference === undefined) return false
    const isOpen = reference.kindPath !== undefined || reference.apiVersionPath !== undefined
    return isOpen || referenceIn('x', reference, 'x')?.ref.resource === resource
  })
}

/** Decides for a mirror, which is shown the host's object as patches make it. */
export function decideMirror(mirror: Mirror, view: View): Decision[] {
  const host = view.host.object
  const patches = patchesFor(view.tenant, 'fromHost', view.key.resource)
  if (host === undefined || patches.length === 0 || !mirror.isEnabled(view.tenant.config)) return mirror.decide(view)
  const context = patchContext(view.key, host, { tenant: view.tenant, isMirror: true })
  const patched = patchedObject(host, patches, context)
  if (patched.kind === 'object') return mirror.decide({ ...view, host: { ...view.host, object: patched.object } })
  const removals = mirror.decide(view).filter((decision) => decision.kind === 'write' && decision.write.op === 'delete')
  return [...removals, patched]
}

/**
 * What the tenant gets of a report, as patches make it: their expressions know the tenant's object that it is about.
 * @returns undefined where one of them cannot be computed: what it would have changed is not told as it is
 */
export function tellReport(report: Report, input: ReportInput): KubeObject | undefined {
  const { resource } = report
  const body = report.forTenant(input)
  const patches = patchesFor(input.tenant, 'fromHost', resourceToken(resource))
  if (body === undefined || patches.length === 0) return body
  const ref = refOf(input.original, resourceToken(input.resource))
  const patched = patchedObject(body, patches, patchContext(ref, input.original, { tenant: input.tenant }))
  return patched.kind === 'object' ? patched.object : undefined
}

function patchReferences(
  patches: readonly ConfiguredPatch[],
  { virtual }: { virtual?: KubeObject | undefined },
): ObjectRef[] {
  if (virtual === undefined) return []
  return patches.flatMap(({ reference, segments }) => {
    if (reference === undefined) return []
    return locate(virtual as Json, segments).flatMap((at) => {
      const found = referenceIn(valueAt(virtual as Json, at) ?? null, reference, virtual.metadata.namespace ?? '')
      return found === undefined ? [] : [found.ref]
    })
  })
}

function toHost(kind: Kind, patches: readonly ConfiguredPatch[], input: TranslateInput): ToHost {
  const plain = kind.toHost(input)
  if (plain.kind === 'reject') return plain
  const context = contextOf(kind, input)
  const patched = patchedObject(plain.object, patches, context)
  if (patched.kind === 'reject') return patched
  const { tagsForth } = seeThrough(patches, { plain: plain.object, host: patched.object, base: undefined }, context)
  return { ...plain, object: patched.object, base: { ...plain.base, [BASE_FIELD]: tagsForth } }
}

function patchedObject(
  object: KubeObject,
  patches: readonly ConfiguredPatch[],
  context: PatchContext,
): { kind: 'object'; object: KubeObject } | { kind: 'reject'; reason: 'Unsupported'; message: string } {
  const patched = cloneJson(object)
  for (const patch of patches) {
    if (!patch.hasForward) continue
    for (const at of locate(object as Json, patch.segments)) {
      const value = patch.forward(valueAt(patched as Json, at) ?? null, context)
      if (!value.ok) return { kind: 'reject', reason: 'Unsupported', message: value.problem }
      setAt(patched as Json, at, value.value ?? undefined)
    }
  }
  return { kind: 'object', object: patched }
}

/** The host copy as the kind is to see it. An original that cannot cross is compared as it stands. */
function see(kind: Kind, patches: readonly ConfiguredPatch[], input: PairInput): Seen {
  const { virtual, host, tenant, related, base } = input
  const plain = kind.toHost({ virtual, tenant, related })
  const compared = plain.kind === 'object' ? plain.object : virtual
  return seeThrough(patches, { plain: compared, host, base: asObject(base?.[BASE_FIELD]) }, contextOf(kind, input))
}

function reconcile(kind: Kind, patches: readonly ConfiguredPatch[], input: PairInput): PairWrite[] {
  const seen = see(kind, patches, input)
  const writes = kind.reconcile({ ...input, host: seen.host })
  const context = contextOf(kind, input)
  const mapped = writes.flatMap((write) => mappedWrite(write, { patches, input, seen, context }))
  return withCorrectionWrite(mapped, input, seen)
}

function mappedWrite(
  item: PairWrite,
  given: { patches: readonly ConfiguredPatch[]; input: PairInput; seen: Seen; context: PatchContext },
): PairWrite[] {
  const { patches, input, seen, context } = given
  const tags = item.side === 'host' ? seen.tagsForth : seen.tagsBack
  const based = item.base === undefined ? item : { ...item, base: { ...item.base, [BASE_FIELD]: tags } }
  const { write } = item
  if (item.side !== 'host' || write.op !== 'patch' || Array.isArray(write.body)) return [based]
  let body: JsonObject = write.body
  for (const patch of patches) {
    if (!patch.hasForward) continue
    const isStrategic = write.patchType === 'strategic'
    const rewritten = rewriteBody(patch, body, { sides: { shown: seen.host, host: input.host }, isStrategic, context })
    // A value that cannot be had is told of, and its write is left out.
    if (!rewritten.ok) return []
    body = rewritten.body
  }
  return [{ ...based, write: { ...write, body } }]
}

/** Adds what the kind does not write of itself, to the write of the copy that there is, or as one of its own. */
function withCorrectionWrite(writes: PairWrite[], input: PairInput, seen: Seen): PairWrite[] {
  const { virtual, host } = input
  const isGoing = virtual.metadata.deletionTimestamp !== undefined || host.metadata.deletionTimestamp !== undefined
  if (seen.corrections.length === 0 || isGoing) return writes
  if (writes.some(({ side, write }) => side === 'host' && write.op === 'delete')) return writes
  const at = writes.findIndex(
    ({ side, write }) =>
      side === 'host' && write.op === 'patch' && write.subresource === undefined && !Array.isArray(write.body),
  )
  const found = writes[at]
  if (found?.write.op === 'patch') {
    const body = withCorrections(found.write.body as JsonObject, seen.corrections)
    return writes.with(at, { ...found, write: { ...found.write, body } })
  }
  // One write that moves the base at a time: what comes back waits for the next round.
  const others = writes.filter(({ base }) => base === undefined)
  const base = { ...input.base, [BASE_FIELD]: seen.tagsForth }
  return [patchHost(host, withCorrections({}, seen.corrections), { rule: 'update', base }), ...others]
}

function disagreementOf(seen: Seen): { reason: 'PatchLoop' | 'Unsupported'; message: string } | undefined {
  const [problem] = seen.problems
  if (problem !== undefined) return { reason: 'Unsupported', message: problem }
  const [loop] = seen.loops
  return loop === undefined ? undefined : { reason: 'PatchLoop', message: loop }
}

function contextOf(kind: Kind, { virtual, tenant }: TranslateInput): PatchContext {
  return patchContext(refOf(virtual, resourceToken(kind.resource)), virtual, { tenant })
}
