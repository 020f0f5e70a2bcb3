import { expect, test } from 'vitest'
import {
  type Intent,
  type LogMessage,
  type Outcome,
  STREAMS,
  type WireMessage,
  encodeChange,
  encodeIntent,
  encodeOutcome,
  encodePayload,
} from '#libs/events'
import type { KubeObject, ObjectKey } from '#libs/kube-model'
import { createVault } from '#libs/vault'
import { inOrder } from './in-order.ts'
import type { StoryEntry } from './story-entry.ts'
import { EntryReader } from './to-entry.ts'
import { storySpans } from './to-spans.ts'

const ref = { resource: 'secrets', namespace: 'n', name: 's' }
const virtual: ObjectKey = { tenant: 'a', side: 'virtual', ...ref }
const copy: ObjectKey = { tenant: 'a', side: 'host', resource: 'secrets', namespace: 'h', name: 's-x-n-x-a' }
const vault = createVault({ active: 'k', keys: new Map([['k', Buffer.alloc(32, 1)]]) })
const TRACE = `00-${'ab'.repeat(16)}-${'cd'.repeat(8)}-01`

const logged = (message: WireMessage, seq: number, storedAt: number): LogMessage => ({ ...message, seq, storedAt })

function change(key: ObjectKey, version: string, object: Omit<KubeObject, 'metadata'>, at: [seq: number, ms: number]) {
  const full = vault.seal(key, { metadata: { name: key.name, resourceVersion: version }, ...object })
  const payload = encodePayload({ type: 'MODIFIED', object: full })
  const head = { type: 'MODIFIED', key, kind: 'Secret', uid: 'u', resourceVersion: version, epoch: 1 } as const
  const message = encodeChange({ ...head, observedAt: at[1] - 2, traceparent: TRACE }, { partition: 0, payload })
  return logged(message, ...at)
}

const intent: Intent = {
  id: 'a/host/secrets/h/s-x-n-x-a/patch/d1/1/0/g',
  target: copy,
  write: {
    op: 'patch',
    patchType: 'merge',
    uid: 'u',
    body: vault.sealFields(copy, { data: { password: 'aHVudGVyMjI=' } }),
  },
  source: ref,
  needs: [],
  causeSeq: 1,
  observedAt: 98,
  loggedAt: 100,
  decidedAt: 103,
  rule: 'update',
  fence: 1,
  attempt: 0,
  traceparent: TRACE,
}

const outcome: Outcome = {
  intentId: intent.id,
  target: copy,
  source: ref,
  op: 'patch',
  result: 'done',
  resourceVersion: '8',
  causeSeq: 1,
  fence: 1,
  attempt: 0,
  stages: { observedAt: 98, loggedAt: 100, decidedAt: 103, intentAt: 104, startedAt: 106, finishedAt: 111 },
  traceparent: TRACE,
}

function story(): StoryEntry[] {
  const reader = new EntryReader(ref, { vault })
  const read: [Parameters<EntryReader['read']>[0], LogMessage][] = [
    [STREAMS.changes, change(virtual, '6', { data: { password: 'b2xk' } }, [0, 50])],
    [STREAMS.changes, change(virtual, '7', { data: { password: 'aHVudGVyMjI=' } }, [1, 100])],
    [STREAMS.changes, change(copy, '8', { data: { password: 'aHVudGVyMjI=' } }, [2, 110])],
    [STREAMS.intents, logged(encodeIntent(intent, 0), 1, 99.9)],
    [STREAMS.outcomes, logged(encodeOutcome(outcome, 0), 1, 112)],
  ]
  return inOrder(read.flatMap(([stream, message]) => reader.read(stream, message) ?? []))
}

test('an intent follows its cause and an outcome its intent, also where clocks differ', () => {
  expect(story().map(({ kind, seq }) => `${kind} ${seq}`)).toEqual([
    'change 0',
    'change 1',
    'intent 1',
    'change 2',
    'outcome 1',
  ])
})

test('what our write comes back as is known for ours', () => {
  const [, byTenant, , echo] = story()
  expect(byTenant).not.toHaveProperty('writtenBy')
  expect(echo).toMatchObject({ side: 'host', writtenBy: intent.id })
})

test('tells that a Secret’s value has changed, and nowhere the value', () => {
  const entries = story()
  expect(entries[1]).toMatchObject({
    differences: [
      { path: 'data.password', from: expect.stringMatching(/^<3 bytes/), to: expect.stringMatching(/^<8 bytes/) },
    ],
  })
  expect(JSON.stringify(entries)).not.toMatch(/aHVudGVyMjI|hunter22|b2xk/)
})

test('an intent names rule, digest and cause', () => {
  const intents = story().filter(({ kind }) => kind === 'intent')
  expect(intents).toMatchObject([
    { rule: 'update', digest: 'd1', causeSeq: 1, because: expect.stringMatching(/differs/) },
  ])
})

test('what is about another object of the namespace is left out', () => {
  const reader = new EntryReader({ ...ref, name: 'other' }, { vault })
  expect(reader.read(STREAMS.intents, logged(encodeIntent(intent, 0), 1, 1))).toBeUndefined()
})

test('a message that cannot be read is part of the story', () => {
  const reader = new EntryReader(ref)
  const bad = { ...change(virtual, '9', {}, [9, 9]), payload: encodePayload('nothing') }
  expect(reader.read(STREAMS.changes, bad)).toMatchObject({
    kind: 'unreadable',
    problem: expect.stringMatching(/no watch event/),
  })
})

test('the spans of one write are one trace, from the watch event to the API’s answer', () => {
  const spans = storySpans(story()).resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((each) => each.spans))
  const byName = (name: string) => spans.filter((span) => span.name === name)
  const [decide] = byName('process CHANGES')
  const [queue] = byName('queue')
  const [write] = byName('process INTENTS')
  const [call] = byName('PATCH /api/v1/namespaces/{namespace}/secrets/{name}')
  expect(new Set(spans.map(({ traceId }) => traceId))).toEqual(new Set(['ab'.repeat(16)]))
  expect(decide?.parentSpanId).toBe('cd'.repeat(8))
  expect([write?.parentSpanId, queue?.parentSpanId, call?.parentSpanId]).toEqual([
    decide?.spanId,
    write?.spanId,
    write?.spanId,
  ])
  expect([queue?.startTimeUnixNano, queue?.endTimeUnixNano, call?.startTimeUnixNano, write?.endTimeUnixNano]).toEqual([
    '104000000',
    '106000000',
    '106000000',
    '111000000',
  ])
  expect(spans.find(({ links }) => links.length > 0)?.links).toEqual([
    { traceId: 'ab'.repeat(16), spanId: write?.spanId },
  ])
})
