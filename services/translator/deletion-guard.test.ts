import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Registry } from 'prom-client'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Intent, Outcome } from '#libs/events'
import { createManualClock } from '#libs/kube/testing'
import type { ObjectKey, ObjectRef, Side } from '#libs/kube-model'
import { type DecisionKey, Projection } from '#libs/projection'
import { LogOfChanges } from '#libs/projection/testing'
import type { DeletionHold } from '#libs/runtime'
import { createLogger } from '#libs/telemetry'
import { hostName } from '#libs/translation'
import { TENANT, objectOf, podOf } from '#libs/translation/testing'
import { createVault } from '#libs/vault'
import { DeletionGuard } from './deletion-guard.ts'
import { KeyDecider } from './key-decider.ts'
import { createTranslatorMetrics } from './metrics.ts'

const vault = createVault({ active: 'k1', keys: new Map([['k1', Buffer.alloc(32, 7)]]) })
const cause = { seq: 1, observedAt: 1, loggedAt: 2 }
const logger = createLogger({ service: 'test', level: 'silent' })
const limits = { free: 4, share: 0.5, perMinute: 1_000 }

let folder: string
let projection: Projection
let guard: DeletionGuard
let decider: KeyDecider
let log: LogOfChanges
let told: Map<string, DeletionHold>
let clock: ReturnType<typeof createManualClock>

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'causeway-guard-'))
  log = new LogOfChanges()
  clock = createManualClock()
  told = new Map()
  open()
  projection.bindTenant(TENANT.name, 't1')
})

afterEach(() => {
  projection.close()
  rmSync(folder, { recursive: true })
})

function open(of: Partial<typeof limits> = {}): void {
  const path = join(folder, 'p.sqlite')
  projection = new Projection({ path, vault, hostNamespaceOf: () => TENANT.hostNamespace })
  const board = {
    get: (tenant: string) => told.get(tenant),
    set: (tenant: string, hold: DeletionHold) => void told.set(tenant, hold),
    clear: (tenant: string) => void told.delete(tenant),
  }
  guard = new DeletionGuard({ projection, clock, logger, limits: { ...limits, ...of }, board })
  decider = new KeyDecider({
    fence: 1,
    projection,
    vault,
    clock,
    random: () => 0,
    logger,
    metrics: createTranslatorMetrics(new Registry()),
    guard,
    tenant: (name) => (name === TENANT.name ? TENANT : undefined),
  })
}

/** As after a crash that lost nothing: what was committed is there again. */
function restart(): void {
  projection.close()
  open()
  guard.restore(TENANT.name)
}

const service = (index: number): ObjectRef => ({ resource: 'services', namespace: 'default', name: `s${index}` })
const range = (count: number, from = 0): number[] => Array.from({ length: count }, (_, index) => from + index)
const keyOf = (ref: ObjectRef): DecisionKey => ({ tenant: TENANT.name, ref })
const at = (side: Side, ref: ObjectRef): ObjectKey =>
  side === 'virtual'
    ? { tenant: TENANT.name, side, ...ref }
    : {
        tenant: TENANT.name,
        side,
        resource: ref.resource,
        namespace: TENANT.hostNamespace,
        name: hostName(ref, TENANT.name),
      }

/** Objects of the tenant with their copies, as they are before anything vanishes. */
function synced(refs: readonly ObjectRef[]): void {
  for (const ref of refs) {
    const make =
      ref.resource === 'pods' ? podOf : (name: string, of: Record<string, unknown>) => objectOf('Service', name, of)
    projection.fold(log.change('ADDED', at('virtual', ref), make(ref.name, { metadata: { uid: `v-${ref.name}` } })))
    const [create] = decider.decide(keyOf(ref), cause)
    if (create?.write.op !== 'create') continue
    const { body } = create.write
    const uid = `h-${ref.name}`
    settle(create, { uid, resourceVersion: String(log.seq + 1) })
    projection.fold(log.change('ADDED', at('host', ref), { ...body, metadata: { ...body.metadata, uid } }))
    decider.saw({ key: at('host', ref), resourceVersion: String(log.seq) })
    decider.decide(keyOf(ref), cause)
  }
}

/** @returns what follows from objects that are gone on one side */
function vanish(refs: readonly ObjectRef[], side: Side = 'virtual'): Intent[] {
  return refs.flatMap((ref) => {
    const uid = `${side === 'virtual' ? 'v' : 'h'}-${ref.name}`
    projection.fold(log.change('DELETED', at(side, ref), { metadata: { name: ref.name, uid } }))
    return decide(ref)
  })
}

const decide = (ref: ObjectRef): Intent[] =>
  decider.decide(keyOf(ref), cause).filter(({ write }) => write.op === 'delete')

const proofs = (intents: readonly Intent[]): string[] =>
  intents.map(({ write }) => (write.op === 'delete' ? write.proof.kind : write.op))

function settle(intent: Intent, of: Partial<Outcome> = {}): DecisionKey[] {
  const { target, source, write, causeSeq, fence, attempt } = intent
  const stages = { observedAt: 0, loggedAt: 0, decidedAt: 0, intentAt: 0, startedAt: 0, finishedAt: 0 }
  const said = { intentId: intent.id, target, source, op: write.op, causeSeq, fence, attempt, stages }
  const at = { seq: 5, storedAt: 6, partition: 0 }
  return decider.settle({ ...said, ...at, result: 'done', ...of }, cause).keys
}

const waiting = (): number => projection.pending.parkedFor(TENANT.name, 'MassDeletion').length

describe('objects that vanish', () => {
  test('few at a time go at once, however many there were', () => {
    synced(range(3).map(service))
    expect(proofs(vanish(range(3).map(service)))).toEqual(Array(3).fill('tombstone'))
    expect(guard.holding).toBe(0)
  })

  test('up to half of many go at once, then a sample is read live and all others wait', () => {
    const all = range(40).map(service)
    synced(all)
    expect(proofs(vanish(all))).toEqual([...Array(20).fill('tombstone'), ...Array(8).fill('confirm-absent')])
    expect(waiting()).toBe(12)
    guard.tidy()
    expect(told.get(TENANT.name)).toMatchObject({ side: 'virtual', resource: 'services', waiting: 12 })
  })

  test('a sample says what it must find of the list, and for which object', () => {
    const all = range(10).map(service)
    synced(all)
    const write = vanish(all).at(-1)?.write
    expect(write).toMatchObject({
      op: 'delete',
      uid: expect.stringMatching(/^h-/),
      proof: { counterpart: { side: 'virtual', resource: 'services' }, uid: expect.stringMatching(/^v-/) },
    })
    expect(write?.op === 'delete' && write.proof.kind === 'confirm-absent' && write.proof.listed).toEqual({
      notBefore: expect.stringMatching(/^\d+$/),
    })
  })

  test('when the whole sample is gone the others go, and are counted afresh', () => {
    const all = range(40).map(service)
    synced(all)
    const sample = vanish(all).slice(20)
    const freed = sample.flatMap((intent) => settle(intent))
    expect(guard.holding).toBe(0)
    expect(told.size).toBe(0)
    const next = freed.filter(({ ref }) => Number(ref.name.slice(1)) >= 28).flatMap(({ ref }) => decide(ref))
    expect(proofs(next)).toEqual(Array(12).fill('tombstone'))
    expect(waiting()).toBe(0)
  })

  test('when one of the sample is still there nothing goes, until an operator confirms', () => {
    const all = range(40).map(service)
    synced(all)
    const [first, ...others] = vanish(all).slice(20)
    if (first === undefined) throw new Error('no sample')
    for (const intent of others) settle(intent)
    settle(first, { result: 'parked', reason: 'StillPresent', message: 'still there' })
    expect(told.get(TENANT.name)).toMatchObject({ contradiction: 'still there', waiting: 12 })
    expect(range(12, 28).flatMap((index) => decide(service(index)))).toEqual([])
    const since = told.get(TENANT.name)?.since ?? 0
    expect(guard.confirm(TENANT.name, since - 1)).toEqual([])
    const freed = guard.confirm(TENANT.name, since)
    const next = range(12, 28).flatMap((index) => decide(service(index)))
    expect(freed).toEqual(expect.arrayContaining(next.map(({ source }) => keyOf(source))))
    expect(proofs(next)).toEqual(Array(12).fill('tombstone'))
  })

  test('on the host in great number leave the tenant’s pods alone', () => {
    const pods = range(30).map((index): ObjectRef => ({ ...service(index), resource: 'pods' }))
    synced(pods)
    expect(proofs(vanish(pods, 'host'))).toEqual([...Array(15).fill('tombstone'), ...Array(8).fill('confirm-absent')])
    expect(waiting()).toBe(7)
  })

  test('from a cluster that is in an earlier state go only on an operator’s word, however few they are', () => {
    synced(range(3).map(service))
    const [third, second, first] = range(3).map(service)
    if (first === undefined || second === undefined || third === undefined) throw new Error('no services')
    log.seq = 0
    const [sample] = vanish([first])
    expect(proofs(sample === undefined ? [] : [sample])).toEqual(['confirm-absent'])
    if (sample !== undefined) settle(sample, { result: 'parked', reason: 'MassDeletion', message: 'earlier' })
    expect(vanish([second, third])).toEqual([])
    expect(told.get(TENANT.name)).toMatchObject({ needsOperator: true, contradiction: 'earlier' })
    clock.advance(10_000)
    expect(decide(first)).toEqual([])
    restart()
    expect(decide(second)).toEqual([])
    guard.confirm(TENANT.name, told.get(TENANT.name)?.since ?? 0)
    expect([first, second, third].flatMap((ref) => decide(ref))).toHaveLength(3)
  })

  test('over several kinds are counted together against what a tenant may lose in a minute', () => {
    projection.close()
    open({ perMinute: 6 })
    const pods = range(5).map((index): ObjectRef => ({ ...service(index), resource: 'pods' }))
    synced([...pods, ...range(5).map(service)])
    expect(proofs([...vanish(pods.slice(0, 4)), ...vanish(range(4).map(service))])).toEqual([
      ...Array(6).fill('tombstone'),
      ...Array(2).fill('confirm-absent'),
    ])
  })

  test('slowly, a few in each minute, are not many', () => {
    const all = range(12).map(service)
    synced(all)
    for (const index of range(3)) {
      expect(proofs(vanish(range(4, index * 4).map(service)))).toEqual(Array(4).fill('tombstone'))
      clock.advance(61_000)
      guard.tidy()
    }
  })

  test('and come back let the hold end', () => {
    const all = range(40).map(service)
    synced(all)
    const sample = vanish(all).slice(20)
    synced(all)
    for (const intent of sample) settle(intent, { result: 'parked', reason: 'StillPresent', message: 'still there' })
    for (const ref of all) decide(ref)
    guard.tidy()
    expect(guard.holding).toBe(0)
    expect(told.size).toBe(0)
  })

  test('with the tenant’s own word before it are no such deletions', () => {
    const pods = range(30).map((index): ObjectRef => ({ ...service(index), resource: 'pods' }))
    synced(pods)
    for (const ref of pods) {
      const going = { deletionTimestamp: '2026-01-01T00:00:00Z', deletionGracePeriodSeconds: 30 }
      const metadata = { uid: `v-${ref.name}`, ...going }
      projection.fold(log.change('MODIFIED', at('virtual', ref), podOf(ref.name, { metadata })))
    }
    expect(proofs(pods.flatMap((ref) => decide(ref)))).toEqual(Array(30).fill('state'))
  })
})

describe('a restart', () => {
  test('counts on where it was', () => {
    const all = range(8).map(service)
    synced(all)
    expect(vanish(all.slice(0, 4))).toHaveLength(4)
    restart()
    expect(proofs(vanish(all.slice(4, 5)))).toEqual(['confirm-absent'])
  })

  test('goes on with what waits, whether or not the board is there', () => {
    const all = range(40).map(service)
    synced(all)
    vanish(all)
    told.clear()
    restart()
    expect(guard.holding).toBe(1)
    expect(proofs(range(12, 28).flatMap((index) => decide(service(index))))).toEqual(Array(8).fill('confirm-absent'))
  })

  test('without the projection still holds what the board says is held', () => {
    const all = range(40).map(service)
    told.set(TENANT.name, { since: 1, side: 'virtual', resource: 'services', waiting: 12 })
    synced(all)
    guard.restore(TENANT.name)
    expect(proofs(vanish(all.slice(0, 12)))).toEqual(Array(8).fill('confirm-absent'))
    expect(waiting()).toBe(4)
  })
})
