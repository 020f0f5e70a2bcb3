import { expect, test } from 'vitest'
import { AcceptedOrder } from './accepted-order.ts'

test.each([
  { later: { fence: 2, causeSeq: 11 }, accepted: true, because: 'it is later' },
  { later: { fence: 2, causeSeq: 10 }, accepted: true, because: 'one change can lead to several intents' },
  { later: { fence: 2, causeSeq: 9 }, accepted: false, because: 'its cause is older' },
  { later: { fence: 1, causeSeq: 99 }, accepted: false, because: 'its translator has lost the partition' },
  { later: { fence: 3, causeSeq: 1 }, accepted: true, because: 'a new translator rules' },
])('after (2, 10), $later is accepted: $accepted, since $because', ({ later, accepted }) => {
  const order = new AcceptedOrder()
  expect(order.accept('a', { fence: 2, causeSeq: 10 })).toBe(true)
  expect(order.accept('a', later)).toBe(accepted)
})

test('targets do not concern each other', () => {
  const order = new AcceptedOrder()
  order.accept('a', { fence: 2, causeSeq: 10 })
  expect(order.accept('b', { fence: 1, causeSeq: 1 })).toBe(true)
})

test('forgets the target not used for longest', () => {
  const order = new AcceptedOrder(2)
  for (const target of ['a', 'b', 'a', 'c']) order.accept(target, { fence: 5, causeSeq: 5 })
  expect(order.accept('b', { fence: 1, causeSeq: 1 })).toBe(true)
  expect(order.accept('c', { fence: 1, causeSeq: 1 })).toBe(false)
})
