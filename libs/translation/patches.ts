import type { PatchType, Subresource } from '#libs/events'
import type { JsonObject, KubeObject } from '#libs/kube-model'
import type { Rule } from './decision.ts'
import type { PairWrite } from './kind.ts'

/** How a pair's patch differs from the usual merge patch of the object itself. */
export type PatchOptions = {
  rule: Rule
  patchType?: PatchType
  subresource?: Subresource
  base?: JsonObject
  /** See `Decision.overruled`. @default nothing */
  overruled?: readonly string[]
}

/** A patch of the host copy, for the object that was looked at and no other. */
export function patchHost(host: KubeObject, body: JsonObject, options: PatchOptions): PairWrite {
  return patch('host', host, { body, options })
}

/**
 * A patch of the tenant's object, for the object that was looked at and no other. One that merges, as its base tells, is
 * right for this very state alone: what the tenant has changed since then must win.
 */
export function patchVirtual(virtual: KubeObject, body: JsonObject, options: PatchOptions): PairWrite {
  const written = patch('virtual', virtual, { body, options })
  const { resourceVersion } = virtual.metadata
  if (options.base === undefined || resourceVersion === undefined || written.write.op !== 'patch') return written
  return { ...written, write: { ...written.write, resourceVersion } }
}

function patch(
  side: PairWrite['side'],
  object: KubeObject,
  { body, options }: { body: JsonObject; options: PatchOptions },
): PairWrite {
  const { rule, patchType = 'merge', subresource, base, overruled = [] } = options
  return {
    side,
    rule,
    write: {
      op: 'patch',
      patchType,
      body,
      uid: object.metadata.uid ?? '',
      ...(subresource === undefined ? {} : { subresource }),
    },
    ...(base === undefined ? {} : { base }),
    ...(overruled.length === 0 ? {} : { overruled: [...overruled] }),
  }
}
