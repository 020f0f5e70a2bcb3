import fc from 'fast-check'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Registry } from 'prom-client'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Intent, type LoggedOutcome, REASONS } from '#libs/events'
import { createManualClock } from '#libs/kube/testing'
import type { ObjectKey, ObjectRef } from '#libs/kube-model'
import { type DecisionKey, Projection } from '#libs/projection'
import { LogOfChanges } from '#libs/projection/testing'
import { createLogger } from '#libs/telemetry'
import { decideFor } from '#libs/translation'
import { TENANT, objectOf, podOf } from '#libs/translation/testing'
import { createVault } from '#libs/vault'
import { DEFAULT_DELETION_LIMITS } from '#libs/config'
import { DeletionGuard } from './deletion-guard.ts'
import { KeyDecider } from './key-decider.ts'
import { createTranslatorMetrics } from './metrics.ts'

const vault = createVault({ active: 'k1', keys: new Map([['k1', Buffer.alloc(32, 7)]]) })
const cause = { seq: 1, observedAt: 1, loggedAt: 2 }
const logger = createLogger({ service: 'test', level: 'silent' })
const NAMES = ['a', 'b'] as const
const RESOURCES = ['pods', 'services', 'configmaps'] as const

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'causeway-rows-'))
})
afterEach(() => {
  rmSync(folder, { recursive: true })
})

type Step =
  | { do: 'make' | 'change' | 'vanish' | 'steal'; ref: ObjectRef }
  | { do: 'settle'; which: number; result: LoggedOutcome['result']; reason: (typeof REASONS)[number] }
  | { do: 'wait'; ms: number }

const ref = fc.record({
  resource: fc.constantFrom(...RESOURCES),
  namespace: fc.constant('default'),
  name: fc.constantFrom(...NAMES),
})
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ do: fc.constantFrom('make' as const, 'change' as const, 'vanish' as const, 'steal' as const), ref }),
  fc.record({
    do: fc.constant('settle' as const),
    which: fc.nat(20),
    result: fc.constantFrom('done', 'superseded', 'conflict', 'parked', 'refused'),
    reason: fc.constantFrom(...REASONS),
  }),
  fc.record({ do: fc.constant('wait' as const), ms: fc.nat(120_000) }),
)

/** One tenant's projection with what decides about it, and what it asked for. */
class Story {
  readonly projection: Projection
  readonly #decider: KeyDecider
  readonly #clock = createManualClock()
  readonly #log = new LogOfChanges()
  readonly #asked: Intent[] = []

  constructor(path: string) {
    this.projection = new Projection({
      path,
      vault,
      hostNamespaceOf: () => TENANT.hostNamespace,
      contextOf: () => TENANT,
    })
    this.projection.bindTenant(TENANT.name, 't1')
    const shared = { projection: this.projection, clock: this.#clock, logger }
    const board = { get: () => undefined, set: () => undefined, clear: () => undefined }
    const guard = new DeletionGuard({ ...shared, limits: { ...DEFAULT_DELETION_LIMITS, free: 1 }, board })
    const metrics = createTranslatorMetrics(new Registry())
    const tenant = () => TENANT
    this.#decider = new KeyDecider({ ...shared, fence: 1, vault, random: () => 0.5, metrics, guard, tenant })
  }

  take(event: Step): void {
    if (event.do === 'wait') this.#clock.advance(event.ms)
    else if (event.do === 'settle') this.#settle(event)
    else for (const key of this.#fold(event)) this.#decide(key)
    for (const key of this.projection.pending.due(this.#clock.now(), 100)) this.#decide(key)
  }

  /** Keys of which something is wanted that is not so, as the next decision would say. */
  wanting(): DecisionKey[] {
    return RESOURCES.flatMap((resource) => NAMES.map((name) => ({ resource, namespace: 'default', name })))
      .map((of) => ({ tenant: TENANT.name, ref: of }))
      .filter((key) => decideFor(this.projection.view(TENANT, key.ref, 1_000_000)).length > 0)
  }

  #fold(event: Extract<Step, { ref: ObjectRef }>): DecisionKey[] {
    const { ref: of } = event
    const key: ObjectKey = { tenant: TENANT.name, side: 'virtual', ...of }
    const place = this.projection.hostKeyOf(TENANT, of)
    const labels = event.do === 'change' ? { at: String(this.#log.seq) } : {}
    const body = { metadata: { uid: `v-${of.name}`, labels } }
    const object =
      of.resource === 'pods'
        ? podOf(of.name, body)
        : objectOf(of.resource === 'services' ? 'Service' : 'ConfigMap', of.name, body)
    const change =
      event.do === 'steal'
        ? this.#log.change('ADDED', place, objectOf('ConfigMap', place.name, { metadata: { uid: 'theirs' } }))
        : this.#log.change(event.do === 'vanish' ? 'DELETED' : 'MODIFIED', key, object)
    return this.projection.fold(change).keys
  }

  #settle(event: Extract<Step, { do: 'settle' }>): void {
    const intent = this.#asked[event.which % Math.max(1, this.#asked.length)]
    if (intent === undefined) return
    const { target, source, write, causeSeq, fence, attempt } = intent
    const stages = { observedAt: 0, loggedAt: 0, decidedAt: 0, intentAt: 0, startedAt: 0, finishedAt: 0 }
    const { result, reason } = event
    const why = result === 'parked' || result === 'refused' ? { reason, message: 'as the API says' } : {}
    const said = { intentId: intent.id, target, source, op: write.op, result, causeSeq, fence, attempt, stages }
    const { keys } = this.#decider.settle({ ...said, ...why, seq: 5, storedAt: 6, partition: 0 }, cause)
    for (const key of keys) this.#decide(key)
  }

  #decide(key: DecisionKey): void {
    this.#asked.push(...this.#decider.decide(key, cause).filter(({ rule }) => rule !== 'announce'))
  }
}

test('an object that is not in sync has a row that says what it waits for, whatever became of its writes', () => {
  let run = 0
  const known: readonly string[] = [...REASONS, 'WaitingForReference']
  fc.assert(
    fc.property(fc.array(step, { minLength: 5, maxLength: 40 }), (steps) => {
      const story = new Story(join(folder, `${run++}.sqlite`))
      try {
        for (const event of steps) {
          story.take(event)
          for (const key of story.wanting()) {
            const rows = story.projection.pending.of(key)
            expect(rows, `nothing says why ${key.ref.resource}/${key.ref.name} waits`).not.toEqual([])
            for (const row of rows.filter(({ state }) => state === 'parked' || state === 'waiting'))
              expect(known).toContain(row.reason)
          }
        }
      } finally {
        story.projection.abandon()
      }
    }),
    { numRuns: 60 },
  )
})
