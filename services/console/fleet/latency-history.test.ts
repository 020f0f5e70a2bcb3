import { expect, test } from 'vitest'
import { LatencyHistory, type Sync } from './latency-history.ts'

const NOW = Date.UTC(2026, 10, 30, 12, 30, 30)
const MINUTE = 60_000

const sync = (of: Partial<Sync> & { ms?: number } = {}): Sync => {
  const { ms = 10, ...rest } = of
  return {
    tenant: 'team-a',
    resource: 'pods',
    namespace: 'default',
    name: 'web',
    op: 'create',
    at: NOW,
    times: { watch: 1, decide: 1, log: 1, queue: 1, api: ms - 4, total: ms },
    ...rest,
  }
}

test('quantiles are right to an eighth', () => {
  const history = new LatencyHistory()
  for (let ms = 1; ms <= 1_000; ms += 1) history.add(sync({ ms }), NOW)
  const all = history.view(NOW, true).hour.find(({ stage }) => stage === 'total')
  expect(all?.count).toBe(1_000)
  for (const [found, exact] of [
    [all?.p50, 500],
    [all?.p95, 950],
    [all?.p99, 990],
  ] as const)
    expect(Math.abs((found ?? 0) / exact - 1)).toBeLessThan(0.125)
})

test('what is older than an hour is forgotten, minute by minute', () => {
  const history = new LatencyHistory()
  history.add(sync({ at: NOW - 61 * MINUTE }), NOW)
  history.add(sync({ at: NOW - 30 * MINUTE }), NOW)
  expect(history.view(NOW, true).counts.reduce((sum, count) => sum + count)).toBe(1)
  expect(history.view(NOW, true).counts.indexOf(1)).toBe(29)
  expect(history.view(NOW + 31 * MINUTE, true).hour.every(({ count }) => count === 0)).toBe(true)
})

test('now is the last five minutes', () => {
  const history = new LatencyHistory()
  history.add(sync({ at: NOW - 10 * MINUTE, ms: 5_000 }), NOW)
  history.add(sync({ ms: 10 }), NOW)
  const { now, hour } = history.view(NOW, true)
  expect([now.at(-1)?.count, hour.at(-1)?.count]).toEqual([1, 2])
})

test('a stage without syncs has no latency rather than none at all', () => {
  const { now, p95 } = new LatencyHistory().view(NOW, false)
  expect(now.map(({ p50 }) => p50)).toEqual([null, null, null, null, null, null])
  expect(p95[0]?.minutes).toHaveLength(60)
})

test('each tenant has its minutes', () => {
  const history = new LatencyHistory()
  history.add(sync({ ms: 10 }), NOW)
  history.add(sync({ ms: 30 }), NOW)
  history.add(sync({ tenant: 'team-b', ms: 50, at: NOW - MINUTE }), NOW)
  const a = history.tenant('team-a', NOW)
  expect([a.counts.at(-1), a.meanMs]).toEqual([2, 20])
  expect(history.tenant('team-b', NOW).counts.slice(-2)).toEqual([1, 0])
  expect(history.tenant('team-c', NOW).meanMs).toBeNull()
})

test('the slowest syncs are named, the slowest first', () => {
  const history = new LatencyHistory()
  for (let index = 0; index < 100; index += 1) history.add(sync({ name: `p${index}`, ms: 5 + index }), NOW)
  expect(history.view(NOW, true).slowest.map(({ name }) => name)).toEqual(['p99', 'p98', 'p97', 'p96', 'p95'])
})
