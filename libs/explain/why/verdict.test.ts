import { describe, expect, test } from 'vitest'
import { REASONS, type Reason } from '#libs/events'
import type { Facts, LiveFact, ServiceFact, WantedWrite, WriteFact } from './facts.ts'
import { verdictOf } from './verdict.ts'
import { REMEDIES, VERDICTS } from './verdicts.ts'

const NOW = 1_700_000_000_000
const ref = { resource: 'pods', namespace: 'default', name: 'web' }
const virtualKey = { tenant: 'a', side: 'virtual', ...ref } as const
const hostKey = {
  tenant: 'a',
  side: 'host',
  resource: 'pods',
  namespace: 'causeway-a',
  name: 'web-x-default-x-a',
} as const

const there: LiveFact = { state: 'there', uid: 'u', resourceVersion: '5', isTerminating: false, isAsSeen: true }
const absent: LiveFact = { state: 'absent', isAsSeen: true }
const seen = { type: 'MODIFIED', resourceVersion: '5', uid: 'u', at: NOW - 60_000 } as const
const on = { toHost: { enabled: true, settings: [] } }
const OWNED: ServiceFact[] = (['watcher', 'watcher-host', 'translator', 'writer'] as const).map((role) => ({
  role,
  owner: 'one',
  behind: 0,
}))
const without = (role: ServiceFact['role']): ServiceFact[] =>
  OWNED.map((each) => (each.role === role ? { role, behind: 3, since: NOW - 9_000 } : each))

/** Both sides are there and agree. */
function facts(changes: Partial<Facts> = {}): Facts {
  return {
    askedAt: NOW,
    object: { tenant: 'a', kind: 'Pod', ...ref },
    tenant: { isRegistered: true, partition: 3, hostNamespace: 'causeway-a', problems: [] },
    sync: on,
    isPaused: false,
    apis: { virtual: { state: 'synced', message: '' }, host: { state: 'synced', message: '' } },
    services: OWNED,
    seen: {
      virtual: { key: virtualKey, last: seen, isListed: true },
      host: { key: hostKey, last: seen, isListed: true },
    },
    live: { virtual: there, host: there },
    wanted: [],
    missing: [],
    writes: [],
    ...changes,
  }
}

const onlyVirtual = {
  live: { virtual: there, host: absent },
  seen: { virtual: { key: virtualKey, last: seen, isListed: true }, host: { key: hostKey, isListed: true } },
}
const neither = {
  live: { virtual: absent, host: absent },
  seen: { virtual: { key: virtualKey, isListed: true }, host: { key: hostKey, isListed: true } },
}
const creation: WantedWrite = {
  side: 'host',
  op: 'create',
  rule: 'create',
  because: 'wanted on the host and not there',
  target: hostKey,
}
const stages = { watch: 1, decide: 1, log: 1, queue: 1, api: 1, total: 5 }
const sent: WriteFact = {
  side: 'host',
  op: 'create',
  rule: 'create',
  because: 'wanted on the host and not there',
  intentId: 'i',
  at: NOW - 50_000,
  attempt: 0,
  needs: [],
  isRetried: false,
}
const parked = (reason: Reason, message = 'as it says'): Partial<Facts> => ({
  ...onlyVirtual,
  wanted: [creation],
  writes: [{ ...sent, outcome: { result: 'parked', reason, message, at: NOW - 49_000, stages } }],
})
const apiProblem = (side: 'virtual' | 'host', reason: Reason): Partial<Facts> => ({
  apis: {
    virtual: { state: 'synced', message: '' },
    host: { state: 'synced', message: '' },
    [side]: { state: 'unreachable', message: 'down', problem: { reason, message: 'connect ECONNREFUSED' } },
  },
  live: { ...facts().live, [side]: { state: 'unknown', reason, message: 'connect ECONNREFUSED' } },
})

type Case = [title: string, changes: Partial<Facts>, reason: string, isInSync: boolean | 'unknown', words: RegExp]

const CASES: Case[] = [
  ['both sides agree', {}, 'InSync', true, /agree/],
  ['no such tenant', { tenant: { isRegistered: false, partition: 3, problems: [] } }, 'TenantUnknown', false, /"a"/],
  [
    'a registration that is not accepted',
    { tenant: { isRegistered: true, partition: 3, problems: ['config.x: bad'] } },
    'CannotTell',
    'unknown',
    /config\.x/,
  ],
  ['a kind that never crosses', { sync: {} }, 'NeverCrosses', true, /stay in the tenant/],
  [
    'kind off',
    {
      ...onlyVirtual,
      sync: {
        toHost: {
          enabled: false,
          settings: [{ key: 'sync.toHost.pods.enabled', enabled: false, from: 'configuration' }],
        },
      },
    },
    'KindOff',
    false,
    /sync\.toHost\.pods\.enabled is off, by its configuration/,
  ],
  [
    'excluded',
    { ...onlyVirtual, excluded: { rule: 'excluded', because: 'its annotation says so' } },
    'Excluded',
    false,
    /its annotation says so/,
  ],
  ['quota', parked('QuotaExceeded', 'exceeded quota: pods'), 'QuotaExceeded', false, /exceeded quota: pods/],
  ['a webhook’s refusal', parked('AdmissionDenied', 'denied by x'), 'AdmissionDenied', false, /denied by x/],
  [
    'a foreign object',
    { ...onlyVirtual, rejected: { reason: 'ForeignObject', message: 'taken' } },
    'ForeignObject',
    false,
    /taken/,
  ],
  [
    'a foreign object that only the API has told of',
    parked('ForeignObject', 'already exists'),
    'ForeignObject',
    false,
    /already exists/,
  ],
  [
    'a name conflict',
    { ...onlyVirtual, rejected: { reason: 'NameConflict', message: 'taken by another' } },
    'NameConflict',
    false,
    /another/,
  ],
  [
    'a missing class',
    { ...onlyVirtual, rejected: { reason: 'UnknownClass', message: 'no class "x"' } },
    'UnknownClass',
    false,
    /"x"/,
  ],
  [
    'a missing dependency',
    { missing: [{ resource: 'configmaps', namespace: 'default', name: 'settings' }] },
    'MissingReference',
    false,
    /configmaps\/settings/,
  ],
  [
    'the tenant’s API is down',
    apiProblem('virtual', 'ApiUnavailable'),
    'ApiUnavailable',
    false,
    /tenant a.*ECONNREFUSED/,
  ],
  ['the host’s API is down', apiProblem('host', 'ApiUnavailable'), 'ApiUnavailable', false, /the host.*ECONNREFUSED/],
  ['a wrong token', apiProblem('virtual', 'Unauthorized'), 'Unauthorized', false, /credentials/],
  ['a read that is not allowed', apiProblem('virtual', 'Forbidden'), 'CannotTell', 'unknown', /do not allow/],
  [
    'an API that only the watcher cannot reach',
    { apis: { virtual: { state: 'unauthorized', message: '401' }, host: { state: 'synced', message: '' } } },
    'Unauthorized',
    false,
    /unauthorized.*401/,
  ],
  [
    'another cluster',
    { apis: { virtual: { state: 'cluster-changed', message: 'uid' }, host: { state: 'synced', message: '' } } },
    'ClusterChanged',
    'unknown',
    /another cluster/,
  ],
  [
    'no writer',
    { ...onlyVirtual, wanted: [creation], writes: [sent], services: without('writer') },
    'WriterStopped',
    false,
    /no writer owns partition 3: the intents wait since 2023/,
  ],
  [
    'no translator',
    { ...onlyVirtual, wanted: [creation], services: without('translator') },
    'TranslatorStopped',
    false,
    /no translator owns partition 3/,
  ],
  [
    'no watcher',
    {
      ...onlyVirtual,
      seen: { ...onlyVirtual.seen, virtual: { key: virtualKey, isListed: true } },
      live: { virtual: { ...there, isAsSeen: false }, host: absent },
      services: without('watcher'),
    },
    'WatcherStopped',
    false,
    /no watcher owns partition 3/,
  ],
  [
    'no watcher of the host',
    { live: { virtual: there, host: { ...there, isAsSeen: false } }, services: without('watcher-host') },
    'WatcherStopped',
    false,
    /follows the host/,
  ],
  [
    'not seen',
    {
      live: { virtual: { ...there, isAsSeen: false }, host: absent },
      seen: { virtual: { key: virtualKey, isListed: false }, host: { key: hostKey, isListed: true } },
    },
    'NotSeen',
    false,
    /no complete list/,
  ],
  [
    'a poison message',
    { seen: { ...facts().seen, virtual: { key: virtualKey, isListed: true, unreadable: 'no JSON' } } },
    'PoisonMessage',
    false,
    /no JSON/,
  ],
  ['a write that could not be read', parked('PoisonMessage', 'the seal does not open'), 'PoisonMessage', false, /seal/],
  [
    'deleted by hand on the host',
    { ...neither, ended: { by: 'host', at: NOW, because: 'the host copy is gone' } },
    'DeletedOnHost',
    false,
    /host copy is gone/,
  ],
  [
    'deleted by the tenant',
    { ...neither, ended: { by: 'tenant', at: NOW, because: 'the tenant deleted it' } },
    'Deleted',
    false,
    /tenant deleted it/,
  ],
  ['never created', neither, 'NotFound', false, /the log has never had one/],
  ['in the writer’s queue', { ...onlyVirtual, wanted: [creation], writes: [sent] }, 'InFlight', false, /queue/],
  [
    'waiting for another write',
    {
      ...onlyVirtual,
      wanted: [creation],
      writes: [{ ...sent, needs: [{ side: 'host', resource: 'secrets', namespace: 'n', name: 's' }] }],
    },
    'InFlight',
    false,
    /until secrets\/s is settled/,
  ],
  [
    'tried again just now',
    {
      ...onlyVirtual,
      wanted: [creation],
      writes: [
        {
          ...sent,
          attempt: 3,
          isRetried: true,
          outcome: { result: 'parked', reason: 'QuotaExceeded', message: 'used up', at: NOW, stages },
        },
      ],
    },
    'QuotaExceeded',
    false,
    /attempt 4/,
  ],
  [
    'about to be decided',
    {
      ...onlyVirtual,
      wanted: [creation],
      seen: { ...onlyVirtual.seen, virtual: { key: virtualKey, last: { ...seen, at: NOW - 100 }, isListed: true } },
    },
    'InFlight',
    false,
    /about to be decided/,
  ],
  [
    'drift',
    { wanted: [{ ...creation, op: 'patch', rule: 'update', because: 'the copy differs' }] },
    'Drift',
    false,
    /the copy differs/,
  ],
  [
    'never created, and somebody else’s on the host under the name of its copy',
    { ...neither, live: { virtual: absent, host: { ...there, isAsSeen: false, isOurs: false } } },
    'NotFound',
    false,
    /never had one/,
  ],
  [
    'an object of the host that the tenant is not shown',
    { ...neither, sync: { fromHost: { enabled: true, settings: [] } }, live: { virtual: absent, host: there } },
    'Excluded',
    false,
    /sees it only while/,
  ],
  [
    'an object that is being deleted',
    { live: { virtual: { ...there, isTerminating: true }, host: there } },
    'InFlight',
    false,
    /being deleted/,
  ],
  [
    'a deletion that is held',
    {
      wanted: [{ ...creation, op: 'delete' }],
      held: { since: NOW, side: 'virtual', waiting: 99, contradiction: 'it is there' },
    },
    'MassDeletion',
    false,
    /deletions wait since .*it is there/,
  ],
  [
    'paused',
    { isPaused: true, wanted: [{ ...creation, op: 'patch', rule: 'update', because: 'the copy differs' }] },
    'Paused',
    false,
    /paused/,
  ],
  ['paused and equal', { isPaused: true }, 'InSync', true, /paused/],
  [
    'an old refusal that is over',
    {
      writes: [
        { ...sent, outcome: { result: 'parked', reason: 'QuotaExceeded', message: 'used up', at: NOW, stages } },
      ],
    },
    'InSync',
    true,
    /agree/,
  ],
]

describe('the verdict', () => {
  test.each(CASES)('on %s', (_title, changes, reason, isInSync, words) => {
    const verdict = verdictOf(facts(changes))
    expect(verdict).toMatchObject({ reason, isInSync })
    expect(verdict.summary).toMatch(words)
    expect(verdict.remedy === undefined).toBe(reason === 'InSync')
  })

  test.each(REASONS)('names %s where a write waits for it, with what the API said', (reason) => {
    expect(verdictOf(facts(parked(reason)))).toMatchObject({
      reason,
      isInSync: false,
      summary: expect.stringContaining('as it says'),
      remedy: REMEDIES[reason],
    })
  })

  test('says of what waits that an operator dropped it, when that is so', () => {
    const dropped = { at: NOW - 5_000, by: 'ann' }
    const { reason, summary, remedy } = verdictOf(facts({ ...parked('QuotaExceeded', 'used up'), dropped }))
    expect(reason).toBe('QuotaExceeded')
    expect(summary).toMatch(/dropped by the operator \(ann\) at 2023-11-14T22:13:15.000Z.*used up/)
    expect(remedy).toContain('causeway parked retry')
  })

  test('has a case for each of its own words but that for what is no tenant’s', () => {
    const shown = new Set(CASES.map(([, , reason]) => reason))
    expect(VERDICTS.filter((word) => !shown.has(word))).toEqual(['NotOurs'])
  })
})
