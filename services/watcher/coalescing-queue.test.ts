import { expect, test } from 'vitest'
import { CoalescingQueue } from './coalescing-queue.ts'

/** `a1` is a state of uid 1 under the name a, `a1x` its deletion. */
const item = (text: string) => ({
  subject: text.charAt(0),
  uid: text.charAt(1),
  isDeletion: text.endsWith('x'),
  text,
})

test.each([
  { name: 'keeps the order of different objects', pushed: 'a1 b1 c1', left: 'a1 b1 c1' },
  { name: 'lets the latest state win, in the place of the first', pushed: 'a1 b1 a1', left: 'a1+a1 b1' },
  { name: 'lets a deletion win over states of the same object', pushed: 'a1 a1 a1x', left: 'a1+a1+a1x' },
  { name: 'keeps a deletion and the object that took the name', pushed: 'a1x a2', left: 'a1x a2' },
  { name: 'keeps every deletion of another object', pushed: 'a1x a2 a2x a3', left: 'a1x a2+a2x a3' },
  { name: 'keeps a deletion and a later state of the same object', pushed: 'a1x a1', left: 'a1x a1' },
  { name: 'keeps both objects where a deletion was missed', pushed: 'a1 a2', left: 'a1 a2' },
  { name: 'coalesces a repeated deletion', pushed: 'a1x a1x', left: 'a1x+a1x' },
])('$name', ({ pushed, left }) => {
  const queue = new CoalescingQueue<ReturnType<typeof item>>((older, newer) => ({
    ...newer,
    text: `${older.text}+${newer.text}`,
  }))
  for (const text of pushed.split(' ')) queue.push(item(text))
  expect(queue.size).toBe(left.split(' ').length)
  const taken = Array.from({ length: queue.size }, () => queue.shift()?.text)
  expect(taken.join(' ')).toBe(left)
  expect(queue.shift()).toBeUndefined()
})

test('does not coalesce with what was taken', () => {
  const queue = new CoalescingQueue<ReturnType<typeof item>>((_older, newer) => newer)
  queue.push(item('a1'))
  queue.shift()
  queue.push(item('a1'))
  expect(queue.size).toBe(1)
})
