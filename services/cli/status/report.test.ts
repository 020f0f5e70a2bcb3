import { expect, test } from 'vitest'
import { type StatusReport, type TenantStatus, complaints, signature } from './report.ts'
import { statusLines } from './status-lines.ts'

const AT = 1_700_000_000_000
const tenant: TenantStatus = {
  name: 'a',
  state: 'synced',
  message: '',
  partition: 0,
  hostNamespace: 'causeway-a',
  waiting: {},
  dropped: 0,
  behind: 0,
}

function report(changes: Partial<StatusReport> = {}): StatusReport {
  return {
    at: AT,
    processes: [{ name: 'up', pid: 1 }],
    streams: [{ name: 'CHANGES', messages: 5, bytes: 5_000 }],
    partitions: [{ role: 'translator', held: 1, of: 1, owners: ['one'] }],
    work: (['watcher', 'translator', 'writer'] as const).map((role) => ({
      role,
      partition: 0,
      owner: 'one',
      behind: 0,
    })),
    hostOwner: 'one',
    host: { state: 'synced', message: '' },
    tenants: [tenant],
    ...changes,
  }
}

const lag = (since: number) => ({ work: [{ role: 'writer' as const, partition: 0, owner: 'one', behind: 3, since }] })
const { hostOwner: _owner, ...unwatched } = report()

test.each<[string, StatusReport, string[]]>([
  ['all in order', report(), []],
  ['what is on its way', report(lag(AT - 9_000)), []],
  ['what is late', report(lag(AT - 11_000)), ['the writer of partition 0 is late']],
  [
    'a partition of nobody',
    report({ work: [{ role: 'writer', partition: 4, behind: 0 }] }),
    ['no writer owns partition 4'],
  ],
  ['a host that nobody watches', unwatched, ['no watcher follows the host']],
  ['a host that does not answer', report({ host: { state: 'unreachable', message: '' } }), ['the host is unreachable']],
  ['a tenant that does not', report({ tenants: [{ ...tenant, state: 'unauthorized' }] }), ['tenant a is unauthorized']],
  ['what waits', report({ tenants: [{ ...tenant, waiting: { Invalid: 2 } }] }), ['objects of tenant a wait']],
  ['what an operator has dropped', report({ tenants: [{ ...tenant, dropped: 1 }] }), []],
])('of %s it is said what is wrong', (_what, so, said) => {
  expect(complaints(so)).toEqual(said)
})

test('that time goes by is no change', () => {
  const before = report(lag(AT - 1_000))
  expect(signature({ ...before, at: AT + 5_000 })).toBe(signature(before))
  expect(signature(report())).not.toBe(signature(before))
})

test('tables show lag, age, owner, what waits, what is dropped and the last answer', () => {
  const held = {
    ...tenant,
    behind: 7,
    oldest: AT - 90_000,
    waiting: { Invalid: 2 },
    dropped: 1,
    lastError: 'Invalid: no',
  }
  const [late] = lag(AT - 300_000).work
  const failed = {
    ...late,
    role: 'writer',
    partition: 0,
    behind: 3,
    lastError: { at: AT - 3_000, message: 'fenced' },
  } as const
  const lines = statusLines(report({ work: [failed], tenants: [held] })).join('\n')
  expect(lines).toMatch(/0 +writer +3 +5 min +one +3 s ago: fenced/)
  expect(lines).toMatch(
    /a +synced +0 +causeway-a +7 +90 s +2 wait: Invalid 2; 1 dropped by the operator; last: Invalid: no/,
  )
})
