import { expect, test } from 'vitest'
import type { JsonObject, KubeObject } from '#libs/kube-model'
import { parseTenantConfig } from '#libs/sync-config'
import type { Decision } from '../../decision.ts'
import { decideFor } from '../../registry.ts'
import { TENANT, memoryRelated, objectOf } from '../../testing/index.ts'
import { podDisruptionBudgets } from './pod-disruption-budgets.ts'

const { config = TENANT.config } = parseTenantConfig({ sync: { toHost: { podDisruptionBudgets: { enabled: true } } } })
const tenant = { ...TENANT, config }
const key = { resource: 'poddisruptionbudgets.policy', namespace: 'default', name: 'db' }
const spec = { selector: { matchLabels: { app: 'db' } }, maxUnavailable: 1 }

function budget(status: JsonObject): KubeObject {
  return objectOf('PodDisruptionBudget', 'db', { metadata: { uid: 'v', generation: 1 }, spec, status })
}

const counted = (expectedPods: number): JsonObject => ({ observedGeneration: 1, expectedPods })

/** The budget's copy, and what both sides agreed on when it was made. */
function made(): { copy: KubeObject; base: JsonObject } {
  const result = podDisruptionBudgets.toHost({ virtual: budget({}), tenant, related: memoryRelated() })
  if (result.kind !== 'object') throw new Error(result.message)
  const { object, base = {} } = result
  return { copy: { ...object, metadata: { ...object.metadata, uid: 'h', generation: 1 } }, base }
}

function decisions(counts: { tenant: number; host: number }, base: JsonObject): Decision[] {
  const virtual = { seq: 1, object: budget(counted(counts.tenant)) }
  const host = { seq: 2, object: { ...made().copy, status: counted(counts.host) } }
  return decideFor({ tenant, key, virtual, host, related: memoryRelated(), waitedMs: 0, base })
}

test('what the host counts is shown once for each change, and the tenant’s own controller may say otherwise', () => {
  const shown = decisions({ tenant: 3, host: 0 }, made().base)
  expect(shown).toMatchObject([{ rule: 'statusBack', write: { body: { status: { expectedPods: 0 } } } }])
  const base = shown[0]?.kind === 'write' ? (shown[0].base ?? {}) : {}
  expect(base).toMatchObject(made().base)
  expect(decisions({ tenant: 3, host: 0 }, base)).toEqual([])
  expect(decisions({ tenant: 3, host: 1 }, base)).toMatchObject([
    { rule: 'statusBack', write: { body: { status: { expectedPods: 1 } } } },
  ])
})
