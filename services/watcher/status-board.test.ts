import { expect, test } from 'vitest'
import { backOffState, failureState } from './failure-state.ts'
import { type WatchState, summarize } from './status-board.ts'
import { Vacancies } from './vacancies.ts'
import { KubeApiError, KubeConnectionError } from '#libs/kube'

test.each<[WatchState[], WatchState]>([
  [[], 'listing'],
  [['synced', 'synced'], 'synced'],
  [['synced', 'listing'], 'listing'],
  [['listing', 'unreachable'], 'unreachable'],
  [['absent', 'synced'], 'synced'],
  [['absent'], 'absent'],
  [['unreachable', 'unauthorized'], 'unauthorized'],
  [['unauthorized', 'cluster-changed', 'synced'], 'cluster-changed'],
])('of %j the worst speaks for the whole: %s', (states, expected) => {
  const statuses = states.map((state, index) => ({ tenant: 'a', resource: String(index), state, message: state }))
  expect(summarize(statuses)).toEqual({ state: expected, message: states.length === 0 ? '' : expected })
})

test.each([
  ['a refused token', new KubeApiError('GET /x: 401 no', { statusCode: 401 }), 'unauthorized'],
  ['missing rights', new KubeApiError('GET /x: 403 no', { statusCode: 403 }), 'unauthorized'],
  ['a broken server', new KubeApiError('GET /x: 500 no', { statusCode: 500 }), 'unreachable'],
  ['no connection', new KubeConnectionError('x: refused', { server: 'x', reason: 'ECONNREFUSED' }), 'unreachable'],
])('%s is told as such, thrown or in words', (_, error, state) => {
  expect(failureState(error).state).toBe(state)
  expect(backOffState(error.message).state).toBe(state)
})

test('a kind that the API does not serve is absent, and nothing else is', () => {
  const path = '/apis/gateway.networking.k8s.io/v1/gateways'
  expect(backOffState(`GET ${path}: 404 404 page not found`).state).toBe('absent')
  expect(backOffState(`GET ${path}: 403 no, not for 404 `).state).toBe('unauthorized')
})

test('leases that nobody holds are named', () => {
  const vacancies = new Vacancies(['watcher.0', 'watcher.1', 'watcher-host.0'])
  vacancies.update('watcher.*', new Map([['watcher.0', 1]]))
  expect(vacancies.problems()).toEqual(['nobody holds watcher.1, watcher-host.0'])
  vacancies.update('watcher-host.*', new Map([['watcher-host.0', 1]]))
  vacancies.update(
    'watcher.*',
    new Map([
      ['watcher.0', 1],
      ['watcher.1', 1],
    ]),
  )
  expect(vacancies.problems()).toEqual([])
})
