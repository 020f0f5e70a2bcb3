import { expect, test } from 'vitest'
import { mergeContext } from './connect.ts'

const tenant = {
  clusters: [{ name: 'team-a', cluster: { server: 'https://127.0.0.1:1/clusters/team-a' } }],
  users: [{ name: 'team-a', user: { token: 't' } }],
  contexts: [{ name: 'team-a', context: { cluster: 'team-a', user: 'team-a' } }],
  'current-context': 'team-a',
}

test('adds the tenant as the current context and leaves the rest alone', () => {
  const mine = {
    clusters: [{ name: 'prod', cluster: { server: 'https://prod' } }],
    users: [{ name: 'me', user: {} }],
    contexts: [{ name: 'prod', context: { cluster: 'prod', user: 'me' } }],
    'current-context': 'prod',
    preferences: { colors: true },
  }
  const merged = mergeContext(mine, tenant, 'causeway_team-a')
  expect(merged).toMatchObject({ 'current-context': 'causeway_team-a', preferences: { colors: true } })
  expect(merged.contexts).toEqual([
    mine.contexts[0],
    { name: 'causeway_team-a', context: { cluster: 'causeway_team-a', user: 'causeway_team-a' } },
  ])
  expect(merged.clusters?.map(({ name }) => name)).toEqual(['prod', 'causeway_team-a'])
})

test('connecting twice leaves one context', () => {
  const once = mergeContext({}, tenant, 'causeway_team-a')
  expect(mergeContext(once, tenant, 'causeway_team-a')).toEqual(once)
})

test('a kubeconfig without a current context is refused', () => {
  expect(() => mergeContext({}, { ...tenant, 'current-context': 'other' }, 'x')).toThrow(/no current context/)
})
