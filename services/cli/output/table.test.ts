import { expect, test } from 'vitest'
import type { SyncRow } from './sync-rows.ts'
import { align, renderLine, renderTable } from './table.ts'

const pod: SyncRow = {
  tenant: 'team-a',
  object: 'pod/default/web',
  hostName: 'causeway-team-a/web-x-default-x-team-a',
  phase: 'Running',
  node: 'node-1',
  stages: { watch: 1, decide: 0.5, log: 1.25, queue: 1.25, api: 9 },
  note: '',
}
const waiting: SyncRow = {
  ...pod,
  object: 'pod/default/other',
  phase: 'Pending',
  node: '',
  stages: undefined,
  note: 'QuotaExceeded',
}

test('shows one row per object, with the time of each stage and what it waits for', () => {
  expect(renderTable([pod, waiting], { width: 200, limit: 10 })).toEqual([
    'TENANT  OBJECT             PHASE    NODE    WATCH  DECIDE  LOG  QUEUE  API  TOTAL ms  HOST OBJECT',
    'team-a  pod/default/web    Running  node-1  1.0    0.5     1.3  1.3    9.0  13.0      causeway-team-a/web-x-default-x-team-a',
    'team-a  pod/default/other  Pending                                                    causeway-team-a/web-x-default-x-team-a  QuotaExceeded',
  ])
})

test('fits the terminal: the newest rows, cut at its width', () => {
  const lines = renderTable([pod, waiting], { width: 60, limit: 1 })
  expect(lines).toHaveLength(3)
  expect(lines.every((line) => line.length <= 60)).toBe(true)
  expect(lines[1]).toContain('pod/default/other')
  expect(lines[2]).toBe('… and 1 more above')
})

test('shows the total alone where the stages do not fit, and no figure that is cut', () => {
  expect(renderTable([pod, waiting], { width: 70, limit: 10 })).toEqual([
    'TENANT  OBJECT             PHASE    NODE    TOTAL ms  HOST OBJECT',
    'team-a  pod/default/web    Running  node-1  13.0      causeway-team-a/',
    'team-a  pod/default/other  Pending                    causeway-team-a/',
  ])
})

test('is one line per change where there is no terminal', () => {
  expect(renderLine(pod)).toBe(
    'team-a pod/default/web  → causeway-team-a/web-x-default-x-team-a  Running  on node-1  13.0 ms',
  )
})

const long = [
  ['TENANT', 'STATE', 'KUBECONFIG', ''],
  ['a', 'synced', '/home/somebody/clusters/kubeconfigs/of/the/team-a.yaml', ''],
  ['b', 'unreachable', '/b.yaml', '127.0.0.1:1: ECONNREFUSED (connect ECONNREFUSED 127.0.0.1:1)'],
]

test('columns are as wide as they take where the width is not said', () => {
  expect(align(long)[1]).toBe('a       synced       /home/somebody/clusters/kubeconfigs/of/the/team-a.yaml')
  expect(align([])).toEqual([])
})

test('in a narrow terminal the widest columns are cut, and sentences go on below', () => {
  const lines = align(long, 72)
  expect(lines.every((line) => line.length <= 72)).toBe(true)
  expect(lines).toEqual([
    'TENANT  STATE        KUBECONFIG',
    'a       synced       /home/somebody/clusters/…',
    'b       unreachable  /b.yaml                    127.0.0.1:1:',
    '                                                ECONNREFUSED (connect',
    '                                                ECONNREFUSED',
    '                                                127.0.0.1:1)',
  ])
})

test('no column is cut to nothing, however narrow the terminal is', () => {
  const lines = align(long, 10)
  expect(lines[0]).toBe('TENANT  STATE     KUBECON…')
  expect(lines[2]).toContain('unreach…')
})
