import { expect, test } from 'vitest'
import { type WatchPosition, resumeFrom } from './position.ts'

const stored: WatchPosition = {
  resourceVersion: '7',
  epoch: 3,
  cluster: 'c',
  owner: 'o',
  log: 'l',
  storedAt: 1_000_000,
  recheck: [{ tenant: 'a', namespace: 'n', name: 'x', uid: 'u', resourceVersion: '5' }],
}
const now = { cluster: 'c', owner: 'o', log: 'l', time: 1_010_000 }

test('a watch goes on from its position', () => {
  expect(resumeFrom(stored, now)).toEqual({
    resourceVersion: '7',
    epoch: 3,
    recheck: stored.recheck,
    isNewOwner: false,
    idsRemembered: true,
  })
})

test.each([
  ['of another cluster', { cluster: 'other' }, false],
  ['of an earlier tenant of the name', { owner: 'other' }, true],
  ['in a log that is no more', { log: 'other' }, false],
])('a position %s is none, but its epoch counts', (_, change, isNewOwner) => {
  expect(resumeFrom(stored, { ...now, ...change })).toMatchObject({
    resourceVersion: undefined,
    epoch: 3,
    recheck: [],
    isNewOwner,
  })
})

test('without a position everything begins', () => {
  expect(resumeFrom(undefined, now)).toEqual({
    resourceVersion: undefined,
    epoch: 0,
    recheck: [],
    isNewOwner: false,
    idsRemembered: true,
  })
})

test('after a long pause the log may have forgotten some of the ids', () => {
  expect(resumeFrom(stored, { ...now, time: stored.storedAt + 60_000 }).idsRemembered).toBe(false)
})
