import { beforeEach, expect, test } from 'vitest'
import { type ManualClock, createManualClock } from '#libs/kube/testing'
import type { WaitingReport } from '#libs/runtime'
import { createLogger } from '#libs/telemetry'
import { WaitingBoard } from './waiting-board.ts'

type Row = { tenant: string; reason: string; name: string; since: number }

let stored: Map<string, WaitingReport>
let writes: string[]
let rows: Row[]
let board: WaitingBoard
let isDown: boolean
let clock: ManualClock

beforeEach(() => {
  stored = new Map()
  writes = []
  rows = []
  isDown = false
  clock = createManualClock()
  board = new WaitingBoard({ kv, clock, logger: createLogger({ service: 'test', level: 'silent' }) })
})

const kv = {
  get: async (key: string) => {
    const value = stored.get(key)
    return value === undefined ? undefined : { key, value, revision: 1 }
  },
  put: async (key: string, value: WaitingReport) => {
    if (isDown) throw new Error('no answer')
    writes.push(`put ${key}`)
    stored.set(key, value)
    return 1
  },
  delete: async (key: string) => {
    writes.push(`delete ${key}`)
    return stored.delete(key)
  },
}

const pending = {
  newestWaiting: (tenant: string) => {
    const row = rows.findLast((each) => each.tenant === tenant)
    if (row === undefined) return undefined
    const { reason, name, since } = row
    return { resource: 'pods', namespace: 'default', name, reason, since, message: 'the API’s words' }
  },
  waitingByReason: () => rows.map(({ tenant, reason }) => ({ tenant, reason, count: 1 })),
  waitingLongest: (tenant: string) =>
    rows
      .filter((row) => row.tenant === tenant)
      .map(({ reason, name, since }) => ({ resource: 'pods', namespace: 'default', name, reason, since })),
}

async function tell(tenants = ['a', 'b']): Promise<void> {
  board.tell(pending, tenants)
  await board.idle()
}

const web: Row = { tenant: 'a', reason: 'Invalid', name: 'web', since: 7 }

test('what waits of a tenant is told when it changes, and taken off when nothing does', async () => {
  rows = [web]
  await tell()
  await tell()
  const shown = { resource: 'pods', namespace: 'default', name: 'web', reason: 'Invalid', since: 7 }
  expect([...stored]).toEqual([
    ['tenant.a', { counts: { Invalid: 1 }, objects: [shown], newest: { ...shown, message: 'the API’s words' } }],
  ])
  rows = []
  await tell()
  expect(writes).toEqual(['put tenant.a', 'delete tenant.a'])
})

test('what an earlier owner of the partition has told goes when it is so no more', async () => {
  stored.set('tenant.b', { counts: { Invalid: 1 }, objects: [] })
  await tell()
  expect(writes).toEqual(['delete tenant.b'])
})

test('a removed tenant is taken off', async () => {
  rows = [web]
  await tell()
  board.forget('a')
  await board.idle()
  expect(stored.size).toBe(0)
})

test('what could not be told is told again', async () => {
  rows = [web]
  isDown = true
  await tell()
  isDown = false
  await tell()
  expect(writes).toEqual(['put tenant.a'])
})

test('which objects they are is looked at again now and then, where the counts stay the same', async () => {
  rows = [web]
  await tell()
  rows = [{ ...web, name: 'other' }]
  await tell()
  expect(stored.get('tenant.a')?.objects).toMatchObject([{ name: 'web' }])
  clock.advance(15_000)
  await tell()
  expect(stored.get('tenant.a')?.objects).toMatchObject([{ name: 'other' }])
})
