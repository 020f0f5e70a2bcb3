import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Registry } from 'prom-client'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Intent, LoggedOutcome } from '#libs/events'
import { createManualClock } from '#libs/kube/testing'
import type { KubeObject, ObjectKey, ObjectRef } from '#libs/kube-model'
import { type DecisionKey, Projection } from '#libs/projection'
import { LogOfChanges } from '#libs/projection/testing'
import { createLogger } from '#libs/telemetry'
import { TENANT, objectOf, podOf } from '#libs/translation/testing'
import { createVault } from '#libs/vault'
import { KeyDecider } from './key-decider.ts'
import { createTranslatorMetrics } from './metrics.ts'

const vault = createVault({ active: 'k1', keys: new Map([['k1', Buffer.alloc(32, 7)]]) })
const cause = { seq: 1, observedAt: 1, loggedAt: 2, traceparent: '00-a-b-00' }
const web: ObjectRef = { resource: 'pods', namespace: 'default', name: 'web' }
const token: ObjectRef = { resource: 'secrets', namespace: 'default', name: 'token' }
const keyOf = (ref: ObjectRef): DecisionKey => ({ tenant: TENANT.name, ref })
const virtual = (ref: ObjectRef): ObjectKey => ({ tenant: TENANT.name, side: 'virtual', ...ref })
const pod = podOf('web', { metadata: { uid: 'v1' } })
const podWithSecret = podOf('web', {
  metadata: { uid: 'v1' },
  spec: { containers: [{ name: 'main', image: 'x', envFrom: [{ secretRef: { name: 'token' } }] }] },
})
const secret = objectOf('Secret', 'token', { data: { password: 'aGVsbG8=' }, metadata: { uid: 's1' } })

let folder: string
let projection: Projection
let decider: KeyDecider
let registry: Registry
let log: LogOfChanges
const clock = createManualClock()

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'causeway-decider-'))
  log = new LogOfChanges()
  open(vault)
  projection.bindTenant(TENANT.name, 't1')
})

afterEach(() => {
  projection.close()
  rmSync(folder, { recursive: true })
})

function open(key: typeof vault): void {
  registry = new Registry()
  projection = new Projection({
    path: join(folder, 'p.sqlite'),
    vault: key,
    hostNamespaceOf: () => TENANT.hostNamespace,
  })
  decider = new KeyDecider({
    fence: 1,
    projection,
    vault: key,
    clock,
    random: () => 0,
    logger: createLogger({ service: 'test', level: 'silent' }),
    metrics: createTranslatorMetrics(registry),
    guard: { admit: (_tenant, _key, decision) => decision, settled: () => [] },
    tenant: (name) => (name === TENANT.name ? TENANT : undefined),
  })
}

const fold = (ref: ObjectRef, object: KubeObject): void => {
  projection.fold(log.change('ADDED', virtual(ref), object))
}

function outcomeOf(intent: Intent, of: Partial<LoggedOutcome>): LoggedOutcome {
  const { target, source, write, causeSeq, fence, attempt } = intent
  const stages = { observedAt: 0, loggedAt: 0, decidedAt: 0, intentAt: 0, startedAt: 0, finishedAt: 0 }
  const position = { seq: 5, storedAt: 6, partition: 0 }
  return {
    intentId: intent.id,
    target,
    source,
    op: write.op,
    result: 'done',
    causeSeq,
    fence,
    attempt,
    stages,
    ...position,
    ...of,
  }
}

function decideOne(ref: ObjectRef): Intent {
  const [intent] = decider.decide(keyOf(ref), cause)
  if (intent === undefined) throw new Error('nothing was decided')
  return intent
}

test('what is created on the host carries the trace of the change that led to it', () => {
  fold(web, pod)
  expect(decideOne(web).write).toMatchObject({
    op: 'create',
    body: { metadata: { annotations: { 'causeway.dev/trace': cause.traceparent } } },
  })
})

test('no intent shows what is in a Secret', () => {
  fold(web, podWithSecret)
  fold(token, vault.seal(virtual(token), secret))
  const intent = decideOne(token)
  expect(intent.write.op).toBe('create')
  expect(JSON.stringify(intent)).not.toContain('aGVsbG8=')
})

test('a tenant that is not registered is not decided about', () => {
  projection.fold(log.change('ADDED', { ...virtual(web), tenant: 'other' }, pod))
  expect(decider.decide({ tenant: 'other', ref: web }, cause)).toEqual([])
})

test('an object that cannot be decided about is counted, noted and left alone for a while', async () => {
  fold(web, podWithSecret)
  fold(token, vault.seal(virtual(token), secret))
  const issued = decideOne(token)
  decider.settle(outcomeOf(issued, { result: 'conflict' }), cause)
  projection.close()
  open(createVault({ active: 'k9', keys: new Map([['k9', Buffer.alloc(32, 1)]]) }))
  clock.advance(60_000)
  expect(projection.pending.due(clock.now(), 10)).toEqual([keyOf(token)])
  const [told, ...others] = decider.decide(keyOf(token), cause)
  expect(others).toEqual([])
  expect(told).toMatchObject({ rule: 'announce', write: { body: { type: 'Warning', reason: 'SyncFailed' } } })
  expect(await registry.metrics()).toContain('causeway_translator_poison_total{stage="decide"} 1')
  expect(projection.pending.parkedByReason()).toEqual([{ reason: 'PoisonMessage', count: 1 }])
  expect(projection.pending.nextDue()).toBeGreaterThan(clock.now())
})

test('an intent that the log will never take is parked, and tried again later', () => {
  fold(web, pod)
  const intent = decideOne(web)
  decider.refused(intent, 'it is too large')
  expect(projection.pending.of(keyOf(web))).toMatchObject([
    { state: 'parked', reason: 'PoisonMessage', message: 'it is too large' },
  ])
  expect(decider.decide(keyOf(web), cause)).toEqual([])
  clock.advance(600_000)
  expect(decider.decide(keyOf(web), cause)).toMatchObject([{ attempt: 1 }])
})

test('a creation that was refused does not wait anew for what it refers to, but as every other retry', () => {
  fold(web, podWithSecret)
  expect(decider.decide(keyOf(web), cause)).toEqual([])
  clock.advance(1_000)
  const first = decideOne(web)
  decider.settle(outcomeOf(first, { result: 'parked', reason: 'ForeignObject' }), cause)
  expect(decider.decide(keyOf(web), cause)).toEqual([])
  const [row, ...others] = projection.pending.of(keyOf(web))
  expect(others).toEqual([])
  expect(row).toMatchObject({ state: 'parked', reason: 'ForeignObject' })
  clock.advance((row?.due ?? 0) - clock.now())
  expect(decider.decide(keyOf(web), cause)).toMatchObject([{ write: { op: 'create' }, attempt: 1 }])
})

test('of an intent that the log had already the answer may have been missed: it is issued again soon', () => {
  fold(web, pod)
  const first = decideOne(web)
  decider.doubled(first)
  clock.advance(4_000)
  expect(decider.decide(keyOf(web), cause)).toEqual([])
  clock.advance(1_000)
  expect(decider.decide(keyOf(web), cause)).toMatchObject([{ target: first.target, attempt: 1 }])
})

test('an intent that nobody has an answer to is issued again, under another id', () => {
  fold(web, pod)
  const first = decideOne(web)
  clock.advance(119_000)
  expect(decider.decide(keyOf(web), cause)).toEqual([])
  clock.advance(1_000)
  const [second] = decider.decide(keyOf(web), cause)
  expect(second).toMatchObject({ target: first.target, attempt: 1 })
  expect(second?.id).not.toBe(first.id)
  // The answer to the first comes late: it says nothing of the second.
  expect(decider.settle(outcomeOf(first, { result: 'parked', reason: 'Invalid' }), cause)).toEqual({
    keys: [],
    announcements: [],
  })
})

test('a tenant is told of a first wait and then ever more rarely', () => {
  fold(web, pod)
  let told = 0
  let intent = decideOne(web)
  for (let attempt = 0; attempt < 16; attempt++) {
    const outcome = outcomeOf(intent, { result: 'parked', reason: 'QuotaExceeded', message: 'full' })
    told += decider.settle(outcome, cause).announcements.length
    clock.advance(60_000)
    intent = decideOne(web)
  }
  expect(told).toBe(5)
})

const refs = ['a', 'b', 'c'].map((name): ObjectRef => ({ ...web, name }))

/** Three pods whose copies wait, and the intent of the first try again. */
function parkAll(reason: 'QuotaExceeded' | 'ForeignObject'): Intent {
  for (const ref of refs) {
    fold(ref, podOf(ref.name, { metadata: { uid: ref.name } }))
    const [intent] = decider.decide(keyOf(ref), cause)
    if (intent !== undefined) decider.settle(outcomeOf(intent, { result: 'parked', reason }), cause)
  }
  const [first] = projection.pending.wake({ tenant: TENANT.name, reason, limit: 1 })
  const [again] = first === undefined ? [] : decider.decide(first, cause)
  if (again === undefined) throw new Error('nothing is tried again')
  return again
}

test('a write that had waited and is done has those tried that wait for the same', () => {
  const { keys } = decider.settle(outcomeOf(parkAll('QuotaExceeded'), { resourceVersion: '9' }), cause)
  expect(keys).toEqual(refs.slice(1).map(keyOf))
  expect(keys.map((key) => decider.decide(key, cause).length)).toEqual([1, 1])
})

test('a name that has become free says nothing of other names', () => {
  expect(decider.settle(outcomeOf(parkAll('ForeignObject'), { resourceVersion: '9' }), cause).keys).toEqual([])
})

test('a copy that is gone has those tried that wait for room', () => {
  fold(web, pod)
  const { target } = decideOne(web)
  projection.fold(log.change('ADDED', target, { ...pod, metadata: { ...pod.metadata, name: target.name, uid: 'h' } }))
  parkAll('QuotaExceeded')
  const { keys } = projection.fold(log.change('DELETED', target, { ...pod, metadata: { name: target.name, uid: 'h' } }))
  expect(keys).toEqual(refs.slice(1).map(keyOf))
})

test('a rejection is announced once', () => {
  fold(web, pod)
  const { target } = decideOne(web)
  const foreign = { ...pod, metadata: { name: target.name, namespace: target.namespace, uid: 'f' } }
  projection.fold(log.change('ADDED', target, foreign))
  expect(decider.decide(keyOf(web), cause)).toMatchObject([
    { write: { op: 'announce', body: { reason: 'SyncConflict' } } },
  ])
  expect(decider.decide(keyOf(web), cause)).toEqual([])
})

test('the base moves with what is done and goes with the copy', () => {
  fold(web, pod)
  const intent = decideOne(web)
  decider.settle(outcomeOf(intent, { base: { labels: {} } }), cause)
  expect(projection.agreement(keyOf(web))?.base).toEqual({ labels: {} })
  decider.settle(outcomeOf(intent, { op: 'delete' }), cause)
  expect(projection.agreement(keyOf(web))).toBeUndefined()
})

test('what is deleted of a kind that is switched off is known to be gone, though no watch may tell', () => {
  const shown: ObjectRef = { resource: 'runtimeclasses.node.k8s.io', namespace: '', name: 'gvisor' }
  const labels = { 'causeway.dev/mirror': 'true' }
  fold(shown, { metadata: { name: 'gvisor', uid: 'c1', labels } })
  const intent = decideOne(shown)
  expect(intent).toMatchObject({ rule: 'disabled', write: { op: 'delete', uid: 'c1' } })
  decider.settle(outcomeOf(intent, {}), cause)
  expect(projection.objects.peek(virtual(shown))?.object).toBeUndefined()
  clock.advance(60_000)
  expect(decider.decide(keyOf(shown), cause)).toEqual([])
})

test('what both sides agreed on outlasts the outcome that said so, where only the last of each target is kept', () => {
  fold(web, pod)
  const first = decideOne(web)
  decider.settle(outcomeOf(first, { base: { labels: {} }, seq: 40 }), cause)
  clock.advance(60_000)
  const second = decideOne(web)
  expect(second.agreed).toEqual({ base: { labels: {} }, seq: 40 })
  // The projection is lost, and the log holds nothing but that the second one had to wait.
  projection.setAgreement(keyOf(web), undefined)
  const { base: _base, ...parked } = outcomeOf(second, { result: 'parked', reason: 'ApiUnavailable', seq: 50 })
  decider.settle({ ...parked, agreed: { base: { labels: {} }, seq: 40 } }, cause)
  expect(projection.agreement(keyOf(web))).toEqual({ base: { labels: {} }, seq: 40 })
  decider.settle({ ...parked, agreed: { base: { labels: { old: '=1' } }, seq: 30 } }, cause)
  expect(projection.agreement(keyOf(web))).toEqual({ base: { labels: {} }, seq: 40 })
})

test('a write that somebody undoes again and again is made ever more slowly', () => {
  const service: ObjectRef = { resource: 'services', namespace: 'default', name: 'web' }
  fold(service, objectOf('Service', 'web', { spec: { ports: [{ port: 80 }] }, metadata: { uid: 's1' } }))
  let made = 0
  for (let round = 0; round < 400; round++) {
    const [intent] = decider.decide(keyOf(service), { ...cause, seq: round })
    if (intent?.write.op === 'create') {
      made++
      const of = { uid: `h${round}`, resourceVersion: String(round) }
      const copy = { ...intent.write.body, metadata: { ...intent.write.body.metadata, ...of } }
      decider.settle(outcomeOf(intent, of), cause)
      projection.fold(log.change('ADDED', intent.target, copy))
      decider.saw({ key: intent.target, resourceVersion: of.resourceVersion })
      decider.decide(keyOf(service), cause)
      projection.fold(log.change('DELETED', intent.target, copy))
    }
    clock.advance(100)
  }
  expect(made).toBeGreaterThan(10)
  expect(made).toBeLessThan(20)
})

test('stamps that another controller takes off again and again are put back ever more slowly', () => {
  const service: ObjectRef = { resource: 'services', namespace: 'default', name: 'web' }
  fold(service, objectOf('Service', 'web', { spec: { ports: [{ port: 80 }] }, metadata: { uid: 's1' } }))
  const create = decideOne(service)
  if (create.write.op !== 'create') throw new Error('nothing is created')
  const { body } = create.write
  const copy = (version: number, stamps: Pick<KubeObject['metadata'], 'labels' | 'annotations'>): KubeObject => {
    const { labels: _labels, annotations: _annotations, ...metadata } = body.metadata
    return { ...body, metadata: { ...metadata, ...stamps, uid: 'h1', resourceVersion: String(version) } }
  }
  const show = (version: number, object: KubeObject): void => {
    projection.fold(log.change('MODIFIED', create.target, object))
    decider.saw({ key: create.target, resourceVersion: String(version) })
  }
  decider.settle(outcomeOf(create, { uid: 'h1', resourceVersion: '1' }), cause)
  show(1, copy(1, body.metadata))
  let made = 0
  for (let version = 2; version < 1_200; version += 2) {
    show(version, copy(version, {}))
    const intents = decider.decide(keyOf(service), { ...cause, seq: version })
    for (const intent of intents.filter(({ rule }) => rule === 'restamped')) {
      made++
      decider.settle(outcomeOf(intent, { uid: 'h1', resourceVersion: String(version + 1) }), cause)
      show(version + 1, copy(version + 1, body.metadata))
      decider.decide(keyOf(service), { ...cause, seq: version })
    }
    clock.advance(100)
  }
  expect(made).toBeGreaterThan(10)
  expect(made).toBeLessThan(25)
})
