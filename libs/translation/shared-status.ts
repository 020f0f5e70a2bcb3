import type { Reason } from '#libs/events'
import { jsonEqual } from '#libs/kernel'
import type { Json, JsonObject } from '#libs/kube-model'
import { asObject } from './json.ts'
import type { PairInput, PairWrite } from './kind.ts'
import { mergePatchOf } from './merge-patch.ts'
import { patchVirtual } from './patches.ts'
import { plainTag } from './three-way.ts'

/** How often one status is shown again to an object whose status was taken away, before it counts as a loop. */
const SHOWN_AGAIN = 5

/** The tenant's object, and what both sides agreed on. */
type Shared = Pick<PairInput, 'virtual' | 'base'>

/** What a base keeps of the status that the tenant was shown last. */
type Shown = { tag: string; again: number }

/** A status to be shown, beside the tenant's, and whether the two say the same. */
export type SharedStatus = {
  desired: JsonObject
  /** The tenant's, as far as it counts. @default the object's own */
  current?: JsonObject
  /** @default whether they are equal */
  saysSame?: (desired: JsonObject, current: JsonObject) => boolean
}

/**
 * The write that shows the tenant a status of the host's which controllers of its own may set as well: a load balancer,
 * an ingress or gateway controller, an operator. Each state of the host's is shown once to an object, and what the tenant
 * makes of it stays: two that write in turns would undo each other's for ever. A status that is empty is nobody's word,
 * so that is filled again, a few times.
 */
export function statusWrites(input: Shared, status: SharedStatus): PairWrite[] {
  const { virtual, base } = input
  const { desired, current = asObject(virtual.status) ?? {}, saysSame = jsonEqual } = status
  const shown = shownOf(base)
  const tag = tagOf(input, desired)
  const write = (body: JsonObject, again: number): PairWrite[] => {
    const options = { rule: 'statusBack', subresource: 'status', base: { ...base, status: { tag, again } } } as const
    return [patchVirtual(virtual, { status: body }, options)]
  }
  const patch = saysSame(desired, current) ? undefined : mergePatchOf(current, desired)
  // Nothing to be written, and yet another state by now: one that it goes back to is to be shown again.
  if (patch === undefined) return shown === undefined || shown.tag === tag ? [] : write({}, 0)
  if (shown?.tag !== tag) return write(patch, 0)
  return saysNothing(current) && shown.again < SHOWN_AGAIN ? write(patch, shown.again + 1) : []
}

/** Why a status is not shown although the tenant's object has none. */
export function statusLoop(
  input: Shared,
  { desired, current = asObject(input.virtual.status) ?? {} }: SharedStatus,
): { reason: Reason; message: string } | undefined {
  const shown = shownOf(input.base)
  const isLost = saysNothing(current) && !saysNothing(desired)
  if (!isLost || shown === undefined || shown.tag !== tagOf(input, desired) || shown.again < SHOWN_AGAIN) {
    return undefined
  }
  const message =
    'a controller of this cluster takes the status away as often as it is shown; it stays away until the host says something else'
  return { reason: 'PatchLoop', message }
}

/** What a base that another write leads to keeps of the status. */
export function statusBase(base: JsonObject | undefined): JsonObject {
  return base?.status === undefined ? {} : { status: base.status }
}

function shownOf(base: JsonObject | undefined): Shown | undefined {
  const { tag, again } = asObject(base?.status) ?? {}
  return typeof tag === 'string' ? { tag, again: typeof again === 'number' ? again : 0 } : undefined
}

/** An object that was made anew has been shown nothing yet. */
function tagOf({ virtual }: Shared, desired: JsonObject): string {
  return plainTag(JSON.stringify([virtual.metadata.uid ?? '', desired]))
}

function saysNothing(value: Json | undefined): boolean {
  if (value === undefined || value === null || value === '') return true
  return typeof value === 'object' && Object.values(value).every((each: Json) => saysNothing(each))
}
