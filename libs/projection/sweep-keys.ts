import type { ObjectKey, ObjectRef } from '#libs/kube-model'
import { DECIDE_ORDER, isMirrored, mirrorFor } from '#libs/translation'
import type { PlacedCopy } from './copy-table.ts'
import { ownerOf } from './fold.ts'
import type { NamePage } from './object-table.ts'
import type { DecisionKey } from './pending-table.ts'
import type { Projection } from './projection.ts'

/** What to look at again as a whole: a tenant, or some resources of it. */
export type Sweep = { tenant: string; resources?: readonly string[] }

const PAGE = 200

/**
 * All keys of a sweep that decisions are made about, in the order of deciding: the tenant's objects, the originals of
 * its host copies that are not among them, and mirrors that are wanted. Reads as it goes, so it may be left and taken up
 * again while the projection changes; it holds one page of names.
 */
export function* sweepKeys(projection: Projection, sweep: Sweep): Generator<DecisionKey, void, void> {
  const { tenant } = sweep
  for (const resource of [...DECIDE_ORDER, ...projection.customResources(tenant)]) {
    if (sweep.resources !== undefined && !sweep.resources.includes(resource)) continue
    for (const ref of pages(projection, { tenant, side: 'virtual', resource })) yield { tenant, ref }
    if (mirrorFor(resource) !== undefined) {
      const wanted = projection.showsAll(tenant, resource)
        ? pages(projection, { tenant: '', side: 'host', resource })
        : projection.references.targets(tenant, resource)
      for (const original of wanted) {
        for (const ref of projection.copiesOf(tenant, original)) yield { tenant, ref }
      }
      if (isMirrored(resource)) continue
    }
    yield* keysWithoutOriginal(projection, tenant, resource)
  }
}

/** Keys of host copies whose original is not there. */
function* keysWithoutOriginal(
  projection: Projection,
  tenant: string,
  resource: string,
): Generator<DecisionKey, void, void> {
  let after: PlacedCopy | undefined
  do {
    const page = projection.copies.page({ tenant, resource }, after, PAGE)
    for (const { namespace, name, original, isOriginalThere } of page) {
      if (isOriginalThere) continue
      if (original !== undefined) yield { tenant, ref: original }
      else yield* stampedKey(projection, { tenant, side: 'host', resource, namespace, name })
    }
    after = page.at(-1)
  } while (after !== undefined)
}

/** The key that an object says by its stamps to be the copy of, if the original is not there. */
function* stampedKey(projection: Projection, place: ObjectKey): Generator<DecisionKey, void, void> {
  const copy = projection.objects.peek(place)?.object
  const key = copy === undefined ? undefined : ownerOf(projection, place, copy)
  if (key === undefined) return
  if (projection.objects.peek({ tenant: place.tenant, side: 'virtual', ...key.ref })?.object === undefined) yield key
}

function* pages(
  projection: Projection,
  of: { tenant: string; side: 'virtual' | 'host'; resource: string },
): Generator<ObjectRef, void, void> {
  let after: NamePage[number] | undefined
  do {
    const page: NamePage = projection.objects.page(of, after, PAGE)
    for (const name of page) yield { resource: of.resource, ...name }
    after = page.at(-1)
  } while (after !== undefined)
}
