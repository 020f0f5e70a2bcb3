import { beforeEach, expect, test } from 'vitest'
import type { Outcome } from '#libs/events'
import type { KubeObject } from '#libs/kube-model'
import { type SyncRow, SyncRows } from './sync-rows.ts'
import { renderLine, renderTable } from './table.ts'

let rows: SyncRows
let changes: number

beforeEach(() => {
  changes = 0
  rows = new SyncRows({ hostCopyOf: (tenant, { name }) => `ns/${name}-x-${tenant}`, onChange: () => void changes++ })
})

const outcome = (of: Partial<Outcome> = {}): Outcome => ({
  intentId: 'i',
  target: { tenant: 'a', side: 'host', resource: 'pods', namespace: 'ns', name: 'web-x' },
  source: { resource: 'pods', namespace: 'default', name: 'web' },
  op: 'create',
  result: 'done',
  causeSeq: 1,
  fence: 1,
  attempt: 0,
  stages: { observedAt: 0, loggedAt: 1, decidedAt: 3, intentAt: 6, startedAt: 10, finishedAt: 15 },
  ...of,
})
const pod = (name: string, phase: string, node = ''): KubeObject => ({
  metadata: { name, namespace: 'default' },
  spec: node === '' ? {} : { nodeName: node },
  status: { phase },
})

test('a create fills the row of its object with the times of each stage', () => {
  rows.outcome(outcome())
  expect(rows.all()).toMatchObject([
    {
      tenant: 'a',
      object: 'pod/default/web',
      hostName: 'ns/web-x',
      stages: { watch: 1, decide: 2, log: 3, queue: 4, api: 5 },
    },
  ])
})

test('what waits says why, until it waits no more', () => {
  rows.outcome(outcome({ result: 'parked', reason: 'QuotaExceeded' }))
  expect(rows.all()[0]?.note).toBe('QuotaExceeded')
  rows.outcome(outcome())
  expect(rows.all()[0]?.note).toBe('')
})

test('announcements and nodes have no rows', () => {
  rows.outcome(outcome({ op: 'announce' }))
  rows.outcome(outcome({ source: { resource: 'nodes', namespace: '', name: 'n' } }))
  expect(rows.all()).toEqual([])
})

test('the same state of a pod is told once', () => {
  rows.pod('a', pod('web', 'Running', 'n1'), false)
  rows.pod('a', pod('web', 'Running', 'n1'), false)
  expect(changes).toBe(1)
  expect(rows.all()).toMatchObject([{ phase: 'Running', node: 'n1', hostName: 'ns/web-x-a' }])
  rows.pod('a', pod('web', 'Running', 'n1'), true)
  expect(rows.all()[0]?.phase).toBe('gone')
})

test('rows are bounded: those that are gone make room first', () => {
  for (let index = 0; index < 2_000; index++) rows.pod('a', pod(`p${index}`, 'Running'), index === 7)
  rows.pod('a', pod('new', 'Running'), false)
  const names = new Set(rows.all().map(({ object }) => object))
  expect(names.size).toBe(2_000)
  expect(names.has('pod/default/p7')).toBe(false)
  expect(names.has('pod/default/p0')).toBe(true)
})

const row = (from: Partial<SyncRow> = {}): SyncRow => ({
  tenant: 'a',
  object: 'pod/default/web',
  hostName: 'ns/web',
  phase: 'Running',
  node: 'n1',
  stages: { watch: 1, decide: 2, log: 3, queue: 4, api: 5.25 },
  note: '',
  ...from,
})

test('the table is no wider than the terminal and shows the newest rows', () => {
  const lines = renderTable([row({ object: 'old' }), row({ object: 'new' })], { width: 60, limit: 1 })
  expect(lines.every((line) => line.length <= 60)).toBe(true)
  expect(lines.join('\n')).toContain('new')
  expect(lines.join('\n')).not.toContain(' old')
  expect(lines.at(-1)).toBe('… and 1 more above')
})

test('a line names what is known of a row', () => {
  expect(renderLine(row())).toBe('a pod/default/web  → ns/web  Running  on n1  15.3 ms')
  expect(renderLine(row({ hostName: '', phase: '', node: '', stages: undefined, note: 'Invalid' }))).toBe(
    'a pod/default/web  Invalid',
  )
})
