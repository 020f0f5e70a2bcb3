import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { LoggedIntent, SidedRef, Write } from '#libs/events'
import { TargetQueue } from './target-queue.ts'
import { intentOf, writes } from './testing/intents.ts'

type Item = { intent: LoggedIntent }

let lastSeq = 0
const item = (write: Write, name: string, needs: string[] = []): Item => {
  const base = intentOf(write)
  lastSeq += 1
  return {
    intent: { ...base, seq: lastSeq, target: { ...base.target, name }, needs: needs.map((need) => refTo(need)) },
  }
}
const refTo = (name: string): SidedRef => ({ side: 'host', resource: 'pods', namespace: 'cw-team-a', name })

describe('per target', () => {
  test('one item at a time, in the order they came', () => {
    const queue = new TargetQueue<Item>()
    const [first, second] = [item(writes.create(), 'a'), item(writes.patch(), 'a')]
    expect(queue.add(first).ready).toEqual([first])
    expect(queue.add(second).ready).toEqual([])
    queue.start(first)
    expect(queue.settle(first)).toEqual([second])
    expect(queue.settle(second)).toEqual([])
    expect(queue.size).toBe(0)
  })

  test('other targets do not wait', () => {
    const queue = new TargetQueue<Item>()
    queue.add(item(writes.create(), 'a'))
    const other = item(writes.create(), 'b')
    expect(queue.add(other).ready).toEqual([other])
  })

  test('a newer item takes the place of a waiting one, and can go at once when that could', () => {
    const queue = new TargetQueue<Item>()
    const [older, newer] = [item(writes.patch(), 'a'), item(writes.patch(), 'a')]
    queue.add(older)
    expect(queue.add(newer)).toEqual({ superseded: [older], ready: [newer] })
    expect(queue.has(older)).toBe(false)
  })

  test('what is under way is not replaced, what waits for another try is', () => {
    const queue = new TargetQueue<Item>()
    const [running, second, third] = [item(writes.patch(), 'a'), item(writes.patch(), 'a'), item(writes.patch(), 'a')]
    queue.add(running)
    queue.start(running)
    expect(queue.add(second)).toEqual({ superseded: [], ready: [] })
    queue.postpone(running)
    expect(queue.add(third)).toEqual({ superseded: [running, second], ready: [third] })
  })

  test('a delete takes all waiting patches of the object with it, and leaves a create alone', () => {
    const queue = new TargetQueue<Item>()
    const [create, patch, status, remove] = [
      item(writes.create(), 'a'),
      item(writes.patch(), 'a'),
      item(writes.status(), 'a'),
      item(writes.remove(), 'a'),
    ]
    for (const each of [create, patch, status]) queue.add(each)
    expect(queue.add(remove).superseded).toEqual([patch])
    expect(queue.settle(create)).toEqual([status])
    expect(queue.settle(status)).toEqual([remove])
  })
})

describe('needs', () => {
  test('hold an item until what came before for those targets is settled', () => {
    const queue = new TargetQueue<Item>()
    const [secret, configMap, pod] = [
      item(writes.create(), 's'),
      item(writes.create(), 'c'),
      item(writes.create(), 'p', ['s', 'c']),
    ]
    queue.add(secret)
    queue.add(configMap)
    expect(queue.add(pod).ready).toEqual([])
    expect(queue.settle(secret)).toEqual([])
    expect(queue.settle(configMap)).toEqual([pod])
  })

  test('do not wait for what comes later, nor for what was never asked for', () => {
    const queue = new TargetQueue<Item>()
    const pod = item(writes.create(), 'p', ['s', 'unknown'])
    expect(queue.add(pod).ready).toEqual([pod])
    expect(queue.add(item(writes.create(), 's')).ready).toHaveLength(1)
  })

  test('wait for the newer item when a needed one is replaced', () => {
    const queue = new TargetQueue<Item>()
    const [older, pod, newer] = [
      item(writes.create(), 's'),
      item(writes.create(), 'p', ['s']),
      item(writes.create(), 's'),
    ]
    queue.add(older)
    queue.add(pod)
    expect(queue.add(newer)).toEqual({ superseded: [older], ready: [newer] })
    expect(queue.settle(newer)).toEqual([pod])
  })

  test('never wait in a circle', () => {
    const queue = new TargetQueue<Item>()
    const [older, middle, newer] = [
      item(writes.create(), 'x'),
      item(writes.create(), 'y', ['x']),
      item(writes.create(), 'x', ['y']),
    ]
    queue.add(older)
    queue.add(middle)
    expect(queue.add(newer)).toEqual({ superseded: [older], ready: [middle] })
    expect(queue.settle(middle)).toEqual([newer])
  })

  test('whatever comes in whatever order, everything is settled, and once', () => {
    const write = fc.constantFrom(writes.create(), writes.patch(), writes.status(), writes.bind(), writes.remove())
    const name = fc.constantFrom('a', 'b', 'c')
    const step = fc.record({ write, name, needs: fc.subarray(['a', 'b', 'c']), settleFirst: fc.nat(3) })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const queue = new TargetQueue<Item>()
        const ready: Item[] = []
        const ended: Item[] = []
        const settleOne = (): void => {
          const next = ready.shift()
          if (next === undefined) return
          queue.start(next)
          ended.push(next)
          ready.push(...queue.settle(next))
        }
        const all = steps.map(({ write: op, name: target, needs, settleFirst }) => {
          for (let count = 0; count < settleFirst; count += 1) settleOne()
          const added = item(op, target, needs)
          const result = queue.add(added)
          for (const gone of result.superseded) {
            ended.push(gone)
            const index = ready.indexOf(gone)
            if (index >= 0) ready.splice(index, 1)
          }
          ready.push(...result.ready)
          return added
        })
        while (ready.length > 0) settleOne()
        expect(queue.size).toBe(0)
        expect(new Set(ended).size).toBe(all.length)
      }),
    )
  })
})
