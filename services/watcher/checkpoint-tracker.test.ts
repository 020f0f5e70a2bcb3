import { describe, expect, test } from 'vitest'
import { CheckpointTracker } from './checkpoint-tracker.ts'

describe('the version to resume from', () => {
  // Each event is its version, or - where a list brought it; then the order in which they settle, and what is safe after each.
  test.each([
    { name: 'follows events that settle in order', events: ['1', '2', '3'], settle: [0, 1, 2], safe: ['1', '2', '3'] },
    {
      name: 'waits for the first that is not settled',
      events: ['1', '2', '3'],
      settle: [2, 1, 0],
      safe: [undefined, undefined, '3'],
    },
    {
      name: 'jumps over all that have settled meanwhile',
      events: ['1', '2', '3', '4'],
      settle: [0, 2, 1, 3],
      safe: ['1', '1', '3', '4'],
    },
    {
      name: 'comes from the end of a list only',
      events: ['-', '-', '9'],
      settle: [0, 2, 1],
      safe: [undefined, undefined, '9'],
    },
    { name: 'stays during a list', events: ['1', '-', '-'], settle: [0, 1, 2], safe: ['1', '1', '1'] },
  ])('$name', ({ events, settle, safe }) => {
    const tracker = new CheckpointTracker()
    const tickets = events.map((version) => tracker.begin(version === '-' ? undefined : version))
    const seen = settle.map((index) => {
      tickets[index]?.settle()
      return tracker.safe
    })
    expect(seen).toEqual(safe)
    expect(tracker.pending).toBe(0)
  })

  test('is right however many events went before', () => {
    const tracker = new CheckpointTracker()
    for (let version = 1; version <= 5_000; version++) {
      const ticket = tracker.begin(String(version))
      ticket.settle()
      ticket.settle()
    }
    expect(tracker.safe).toBe('5000')
    expect(tracker.pending).toBe(0)
  })
})

test('is idle when everything has settled, also what came while waiting', async () => {
  const tracker = new CheckpointTracker()
  await tracker.idle()
  const first = tracker.begin('1')
  let isIdle = false
  const idle = tracker.idle().then(() => {
    isIdle = true
  })
  const second = tracker.begin('2')
  first.settle()
  await Promise.resolve()
  expect(isIdle).toBe(false)
  second.settle()
  await idle
})
