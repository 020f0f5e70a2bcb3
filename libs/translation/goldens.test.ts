import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { canonicalJson } from '#libs/kernel'
import type { JsonObject, KubeObject } from '#libs/kube-model'
import { parseTenantConfig } from '#libs/sync-config'
import type { Kind, ToHost } from './kind.ts'
import { checkPatch } from './configured/check-patch.ts'
import { withPatches } from './configured/with-patches.ts'
import { KINDS, kindFor } from './registry.ts'
import { applyPatch } from './testing/apply-patch.ts'
import { type GoldenContext, goldenCases, readGolden } from './testing/golden-cases.ts'
import { TENANT, deepFreeze, memoryRelated } from './testing/index.ts'
import type { TenantContext } from './view.ts'

/*
 * A case is a folder:
 *   virtual.yaml         the tenant's object
 *   context.yaml         optional: { tenant, config, virtual: [{ ref, object }], host: [likewise], users: [{ of, by }] }
 *   virtual-patch.yaml   optional: what the tenant changed after the copy was made, as a merge patch
 *   host-patch.yaml      optional: what the host changed or filled in on the copy, likewise
 *   expected.yaml        the host copy; with one of the patches, the writes that follow
 * `npm run golden:update` rewrites expected.yaml.
 */
// Of custom resources, which only configurations name, this one stands for all.
const kinds = { ...KINDS, customresources: kindFor('widgets.example.com') }

for (const [resource, kind] of Object.entries(kinds)) {
  if (kind === undefined) continue
  describe(`${resource} as the golden files have them`, () => {
    test.each(goldenCases(`kinds/${resource}`))('$name', async ({ folder, context }) => {
      const { output, again } = run(kind, folder, context)
      expect(again).toBe(canonicalJson(output))
      await expect(stringify(output, { lineWidth: 120, sortMapEntries: true })).toMatchFileSnapshot(
        join(folder, 'expected.yaml'),
      )
    })
  })
}

/** The outcome of a case, and that of a second run, which must not differ. */
function run(given: Kind, folder: string, context: GoldenContext): { output: unknown; again: string } {
  const original = deepFreeze(readGolden<KubeObject>(folder, 'virtual.yaml'))
  if (original === undefined) throw new Error(`${folder} has no virtual.yaml`)
  const tenant = deepFreeze({ ...TENANT, ...context.tenant, config: configOf(context) })
  const related = memoryRelated(context)
  const kind = withPatches(given, tenant)
  const translate = () => kind.toHost({ virtual: original, tenant, related })
  const copy = deepFreeze(translate())
  const virtualPatch = readGolden<JsonObject>(folder, 'virtual-patch.yaml')
  const hostPatch = readGolden<JsonObject>(folder, 'host-patch.yaml')
  if (virtualPatch === undefined && hostPatch === undefined) {
    return { output: madeOf(copy), again: canonicalJson(madeOf(translate())) }
  }
  if (copy.kind !== 'object') throw new Error(`${folder} has no host copy to change: ${copy.message}`)
  const created = { ...copy.object, metadata: { ...copy.object.metadata, uid: 'host-uid', generation: 1 } }
  const virtual = deepFreeze(patched(original, virtualPatch))
  const host = deepFreeze(patched(created, hostPatch))
  const input = {
    virtual,
    host,
    tenant,
    related,
    seq: { virtual: 7, host: 9 },
    ...(copy.base === undefined ? {} : { base: copy.base }),
  }
  const writes = () => kind.reconcile(input).map(({ base: _base, ...write }) => write)
  return { output: writes(), again: canonicalJson(writes()) }
}

/** What is made: the object, and the tokens that come with it. */
function madeOf(copy: ToHost): unknown {
  if (copy.kind !== 'object') return copy
  return copy.tokens === undefined ? copy.object : { object: copy.object, tokens: copy.tokens }
}

function configOf({ config }: GoldenContext): TenantContext['config'] {
  const parsed = parseTenantConfig(config, { checkPatch })
  if (parsed.config === undefined) throw new Error(JSON.stringify(parsed.problems))
  return parsed.config
}

function patched(object: KubeObject, patch: JsonObject | undefined): KubeObject {
  return patch === undefined ? object : (applyPatch(object as JsonObject, patch, false) as KubeObject)
}
