import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Registry } from 'prom-client'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Intent } from '#libs/events'
import { type ManualClock, createManualClock } from '#libs/kube/testing'
import type { KubeObject, ObjectKey, ObjectRef } from '#libs/kube-model'
import { type DecisionKey, Projection } from '#libs/projection'
import { LogOfChanges } from '#libs/projection/testing'
import { createLogger } from '#libs/telemetry'
import { TENANT, objectOf, podOf } from '#libs/translation/testing'
import { createVault } from '#libs/vault'
import { KeyDecider } from './key-decider.ts'
import { createTranslatorMetrics } from './metrics.ts'

/* What a tenant is told of an object of which no write waits. */

const vault = createVault({ active: 'k1', keys: new Map([['k1', Buffer.alloc(32, 7)]]) })
const cause = { seq: 1, observedAt: 1, loggedAt: 2 }
const web: ObjectRef = { resource: 'pods', namespace: 'default', name: 'web' }
const api: ObjectRef = { resource: 'services', namespace: 'default', name: 'api' }
const keyOf = (ref: ObjectRef): DecisionKey => ({ tenant: TENANT.name, ref })
const virtual = (ref: ObjectRef): ObjectKey => ({ tenant: TENANT.name, side: 'virtual', ...ref })
const excluded = { metadata: { uid: 'v1', annotations: { 'causeway.dev/sync': 'false' } } }
const needy = podOf('web', {
  metadata: { uid: 'v1' },
  spec: { containers: [{ name: 'main', image: 'x', envFrom: [{ configMapRef: { name: 'settings' } }] }] },
})

let folder: string
let projection: Projection
let decider: KeyDecider
let registry: Registry
let log: LogOfChanges
let clock: ManualClock

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'causeway-told-'))
  log = new LogOfChanges()
  clock = createManualClock()
  registry = new Registry()
  projection = new Projection({ path: join(folder, 'p.sqlite'), vault, hostNamespaceOf: () => TENANT.hostNamespace })
  projection.bindTenant(TENANT.name, 't1')
  decider = new KeyDecider({
    fence: 1,
    projection,
    vault,
    clock,
    random: () => 0,
    logger: createLogger({ service: 'test', level: 'silent' }),
    metrics: createTranslatorMetrics(registry),
    guard: { admit: (_tenant, _key, decision) => decision, settled: () => [] },
    tenant: (name) => (name === TENANT.name ? TENANT : undefined),
  })
})

afterEach(() => {
  projection.close()
  rmSync(folder, { recursive: true })
})

const fold = (ref: ObjectRef, object: KubeObject): void =>
  void projection.fold(log.change('ADDED', virtual(ref), object))

const messages = (intents: readonly Intent[]): string[] =>
  intents.flatMap(({ write }) => (write.op === 'announce' ? [String(write.body['message'])] : []))

const decide = (ref: ObjectRef): Intent[] => decider.decide(keyOf(ref), { ...cause, seq: ++log.seq })

test('an object that its tenant excludes is told of once, and counted as long as it is', () => {
  fold(web, podOf('web', excluded))
  expect(messages(decide(web))).toEqual([
    'Excluded: it is kept from the host: its annotation causeway.dev/sync is "false"',
  ])
  clock.advance(86_400_000)
  expect(decide(web)).toEqual([])
  expect(projection.pending.notedByReason()).toEqual([{ reason: 'Excluded', count: 1 }])
  expect(projection.pending.waitingByReason()).toEqual([])
  fold(web, podOf('web', { metadata: { uid: 'v1' } }))
  decide(web)
  expect(projection.pending.notedByReason()).toEqual([])
})

test('a pod that refers to what is not there is told of it when it is created without, and ever more rarely after that', () => {
  projection.fold(log.synced({ tenant: TENANT.name, side: 'virtual', resource: 'configmaps' }))
  fold(web, needy)
  expect(messages(decide(web))).toEqual([])
  clock.advance(1_000)
  const says = /^MissingReference: .*: configmaps\/settings$/
  expect(messages(decide(web))).toEqual([expect.stringMatching(says)])
  expect(projection.pending.notedByReason()).toEqual([{ reason: 'MissingReference', count: 1 }])
  const told = Array.from({ length: 120 }, () => {
    clock.advance(60_000)
    return messages(decide(web)).length
  })
  expect(told.slice(0, 4)).toEqual([1, 0, 1, 0])
  expect(told.reduce((sum, count) => sum + count, 0)).toBeLessThan(10)
  const { keys } = projection.fold(
    log.change(
      'ADDED',
      virtual({ ...web, resource: 'configmaps', name: 'settings' }),
      objectOf('ConfigMap', 'settings'),
    ),
  )
  expect(keys).toContainEqual(keyOf(web))
  decide(web)
  expect(projection.pending.notedByReason()).toEqual([])
})

test('what a complete list has not shown to be missing is not called so, nor what a running pod refers to', () => {
  fold(web, needy)
  clock.advance(1_000)
  decide(web)
  expect(projection.pending.notedByReason()).toEqual([])
  projection.fold(log.synced({ tenant: TENANT.name, side: 'virtual', resource: 'configmaps' }))
  fold(web, { ...needy, status: { phase: 'Running' } })
  decide(web)
  expect(projection.pending.notedByReason()).toEqual([])
})

test('a message that cannot be read is told of, and counted until a later one can be', () => {
  fold(api, objectOf('Service', 'api', { metadata: { uid: 's1' }, spec: { ports: [{ port: 80 }] } }))
  decide(api)
  expect(messages(decider.unreadable(virtual(api), 'it is garbled', cause))).toEqual([
    expect.stringMatching(/^PoisonMessage: /),
  ])
  expect(decider.unreadable(virtual(api), 'it is garbled', cause)).toEqual([])
  expect(projection.pending.parkedByReason()).toEqual([{ reason: 'PoisonMessage', count: 1 }])
  projection.pending.retry({ tenant: TENANT.name })
  decide(api)
  expect(projection.pending.due(clock.now(), 9)).toEqual([])
  expect(projection.pending.parkedByReason()).toEqual([{ reason: 'PoisonMessage', count: 1 }])
  decider.saw({ key: virtual(api), resourceVersion: '9' })
  expect(projection.pending.parkedByReason()).toEqual([])
})

/** A Service with a copy on the host. */
function copied(): { key: ObjectKey; copy: KubeObject } {
  fold(api, objectOf('Service', 'api', { metadata: { uid: 's1' }, spec: { ports: [{ port: 80 }] } }))
  const [create] = decide(api)
  if (create?.write.op !== 'create') throw new Error('nothing is created')
  const copy = { ...create.write.body, metadata: { ...create.write.body.metadata, uid: 'h1', resourceVersion: '1' } }
  projection.fold(log.change('ADDED', create.target, copy))
  projection.pending.delete(keyOf(api), `host/services/${create.target.namespace}/${create.target.name}/create`)
  return { key: create.target, copy }
}

const goes = (key: ObjectKey, copy: KubeObject): void => {
  const change = log.change('DELETED', key, copy)
  decider.sees(change)
  projection.fold(change)
}

test('a copy that somebody deletes on the host is made again, and the tenant is told', async () => {
  const { key, copy } = copied()
  goes(key, copy)
  const intents = decide(api)
  expect(messages(intents)).toEqual([
    'DeletedOnHost: its copy was deleted on the host, and not by Causeway: it is made again',
  ])
  expect(intents.map(({ rule }) => rule)).toEqual(['announce', 'create'])
  expect(await registry.metrics()).toContain(
    'causeway_translator_copies_lost_total{resource="services",result="created"} 1',
  )
})

test('a copy that was deleted because the tenant wanted it is no loss, whenever another is made', () => {
  const { key, copy } = copied()
  fold(api, objectOf('Service', 'api', { ...excluded, spec: { ports: [{ port: 80 }] } }))
  expect(decide(api).map(({ rule }) => rule)).toEqual(['announce', 'excluded'])
  goes(key, copy)
  decide(api)
  fold(api, objectOf('Service', 'api', { metadata: { uid: 's1' }, spec: { ports: [{ port: 80 }] } }))
  expect(decide(api).map(({ rule }) => rule)).toEqual(['create'])
})

test('very many Events of one tenant go a few at a time, and none is lost', () => {
  const refs = Array.from({ length: 400 }, (_, index): ObjectRef => ({ ...web, name: `p${index}` }))
  const told = refs.flatMap((ref) => {
    fold(ref, podOf(ref.name, { metadata: { ...excluded.metadata, uid: ref.name } }))
    return messages(decide(ref))
  })
  expect(told.length).toBeLessThan(300)
  let rest = 0
  for (let seconds = 0; decider.announcer.isHolding && seconds < 60; seconds++) {
    clock.advance(1_000)
    rest += decider.announcer.due().length
  }
  expect(told.length + rest).toBe(refs.length)
})
