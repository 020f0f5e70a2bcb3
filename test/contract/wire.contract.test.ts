import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import {
  type Change,
  type Intent,
  type LogMessage,
  type Outcome,
  type WireMessage,
  decodeChange,
  decodeIntent,
  decodeOutcome,
  encodeChange,
  encodeIntent,
  encodeOutcome,
  encodePayload,
} from '#libs/events'

/*
 * What is in the log stays there for days and is read by other versions than the one that wrote it. The stored samples
 * are envelope version 1 as first released: a test that fails here means that a new ENVELOPE_VERSION is needed, with
 * samples of its own, not that the samples are to be updated.
 */

const target = {
  tenant: 'team-a',
  side: 'host',
  resource: 'pods',
  namespace: 'causeway-team-a',
  name: 'web-x-default-x-team-a',
} as const
const source = { resource: 'pods', namespace: 'default', name: 'web' }
const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00'
const body = { apiVersion: 'v1', kind: 'Pod', metadata: { name: target.name, uid: 'h1', labels: { app: 'wäb' } } }
const decided = {
  source,
  needs: [{ side: 'host', resource: 'configmaps', namespace: 'causeway-team-a', name: 'cfg-x-default-x-team-a' }],
  causeSeq: 41,
  observedAt: 1_700_000_000_000.125,
  loggedAt: 1_700_000_000_001,
  decidedAt: 1_700_000_000_002.5,
  fence: 12,
  attempt: 1,
} satisfies Partial<Intent>
const stages = {
  observedAt: 1_700_000_000_000.125,
  loggedAt: 1_700_000_000_001,
  decidedAt: 1_700_000_000_002.5,
  intentAt: 1_700_000_000_003,
  startedAt: 1_700_000_000_004,
  finishedAt: 1_700_000_000_009.75,
}
const virtual: Change = {
  type: 'MODIFIED',
  key: { tenant: 'team-a', side: 'virtual', ...source },
  kind: 'Pod',
  uid: 'v1',
  resourceVersion: '77',
  epoch: 3,
  observedAt: 1_700_000_000_000.125,
  traceparent,
}
/** The same as it is since changes say for which registration of the tenant they were read. */
const owned: Change = { ...virtual, owner: '6f0d1c9e-5b1c-4d7e-9a55-2c8f3d1b7a40' }
const node: Change = {
  type: 'DELETED',
  key: { tenant: '', side: 'host', resource: 'nodes', namespace: '', name: 'node.1' },
  kind: 'Node',
  uid: 'n1',
  resourceVersion: '5',
  epoch: 1,
  observedAt: 1_700_000_000_000,
}
const marker: Change = {
  type: 'SYNCED',
  key: { tenant: 'team-a', side: 'virtual', resource: 'deployments.apps', namespace: '', name: '_synced' },
  kind: 'Deployment',
  uid: 'cluster',
  resourceVersion: '90',
  epoch: 3,
  observedAt: 1_700_000_000_000,
}
const intents: Record<string, Intent> = {
  'intent-create': {
    ...decided,
    id: 'team-a/host/create/1',
    target,
    write: { op: 'create', body },
    rule: 'create',
    base: { labels: { app: '=wäb' } },
    traceparent,
  },
  'intent-patch': {
    ...decided,
    id: 'team-a/virtual/patch/1',
    target: { tenant: 'team-a', side: 'virtual', ...source },
    write: {
      op: 'patch',
      patchType: 'strategic',
      body: { status: { phase: 'Running' } },
      uid: 'v1',
      subresource: 'status',
    },
    rule: 'statusBack',
  },
  'intent-bind': {
    ...decided,
    id: 'team-a/virtual/bind/1',
    target: { tenant: 'team-a', side: 'virtual', ...source },
    write: { op: 'bind', node: 'node.1', uid: 'v1' },
    rule: 'bind',
  },
  'intent-delete': {
    ...decided,
    id: 'team-a/host/delete/1',
    target,
    write: {
      op: 'delete',
      uid: 'h1',
      gracePeriodSeconds: 30,
      proof: { kind: 'confirm-absent', counterpart: { tenant: 'team-a', side: 'virtual', ...source }, uid: 'v1' },
    },
    rule: 'virtualNeverSeen',
  },
}
const outcomes: Record<string, Outcome> = {
  'outcome-done': {
    intentId: 'team-a/host/create/1',
    target,
    source,
    op: 'create',
    result: 'done',
    uid: 'h1',
    resourceVersion: '91',
    causeSeq: 41,
    fence: 12,
    attempt: 1,
    stages,
    base: { labels: { app: '=wäb' } },
    traceparent,
  },
  'outcome-parked': {
    intentId: 'team-a/host/create/1',
    target,
    source,
    op: 'create',
    result: 'parked',
    reason: 'QuotaExceeded',
    message: 'exceeded quota',
    causeSeq: 41,
    fence: 12,
    attempt: 1,
    stages,
  },
}

const event = (type: string, object: object): Uint8Array => encodePayload({ type, object })

type Sample = [name: string, message: WireMessage, decode: (message: LogMessage) => object]

const samples: Sample[] = [
  ['change-virtual', encodeChange(virtual, { partition: 3, payload: event('MODIFIED', body) }), decodeChange],
  ['change-owned', encodeChange(owned, { partition: 3, payload: event('MODIFIED', body) }), decodeChange],
  [
    'change-all-deleted',
    encodeChange(node, { partition: 'all', payload: event('DELETED', body), ttl: '96h' }),
    decodeChange,
  ],
  ['change-marker', encodeChange(marker, { partition: 3, payload: encodePayload({ type: 'SYNCED' }) }), decodeChange],
  ...Object.entries(intents).map(([name, intent]): Sample => [name, encodeIntent(intent, 3), decodeIntent]),
  ...Object.entries(outcomes).map(([name, outcome]): Sample => [name, encodeOutcome(outcome, 3), decodeOutcome]),
]

const originals: Record<string, object> = {
  'change-virtual': virtual,
  'change-owned': owned,
  'change-all-deleted': node,
  'change-marker': marker,
  ...intents,
  ...outcomes,
}

describe('envelope version 1', () => {
  test.each(samples)('writes %s as it always has', async (name, message) => {
    const text = { ...message, payload: JSON.parse(new TextDecoder().decode(message.payload)) as unknown }
    await expect(`${JSON.stringify(text, undefined, 2)}\n`).toMatchFileSnapshot(`fixtures/wire-v1/${name}.json`)
  })

  test.each(samples)('reads %s as it was meant', (name, _message, decode) => {
    const path = fileURLToPath(new URL(`fixtures/wire-v1/${name}.json`, import.meta.url))
    const stored = JSON.parse(readFileSync(path, 'utf8')) as {
      subject: string
      headers: Record<string, string>
      payload: unknown
    }
    const message = { ...stored, payload: encodePayload(stored.payload), seq: 1, storedAt: 2 }
    expect(decode(message)).toMatchObject(originals[name] ?? { missing: name })
  })
})
