import { expect, test } from 'vitest'
import { ChangeWindows } from './change-windows.ts'
import { CoalescingQueue } from './coalescing-queue.ts'
import type { Sender } from './tenant-window.ts'

type Item = { subject: string; uid: string; isDeletion: boolean; text: string }

/** A log, to which lanes send states such as `a1`, the first of an object a; `a1x` is its deletion. */
function log(limits: { unacked?: number; unprocessed?: number; perObject?: number; unackedOfAll?: number }) {
  let now = 0
  const windows = new ChangeWindows({
    unacked: 100,
    unprocessed: 100,
    perObject: 100,
    unackedOfAll: 100,
    ...limits,
    partitionOf: (tenant) => (tenant === '' ? undefined : Number(tenant.at(-1))),
    now: () => now,
  })
  const sent: string[] = []
  const acks: (() => void)[] = []
  const lane = (tenant: string) => {
    const queue = new CoalescingQueue<Item>((_older, newer) => newer)
    const sender: Sender = {
      send: (mayGo) => {
        const item = queue.shift(mayGo)
        if (item === undefined) return undefined
        const { promise, resolve } = Promise.withResolvers<number>()
        const seq = sent.push(item.text)
        acks.push(() => resolve(seq))
        return { subject: item.subject, stored: promise }
      },
      release: (subject) => queue.release(subject),
    }
    return {
      add: (texts: string) => {
        for (const text of texts.split(' ')) {
          queue.push({ subject: text.charAt(0), uid: text.charAt(1), isDeletion: text.endsWith('x'), text })
          windows.ask(tenant, sender)
        }
      },
      waiting: () => queue.size,
    }
  }
  return {
    windows,
    lane,
    sent,
    ack: async () => {
      for (const ack of acks.splice(0)) ack()
      await new Promise(setImmediate)
    },
    pass: (ms: number) => (now += ms),
  }
}

test('what a tenant’s translator has not processed fills its window, and nobody else’s', async () => {
  const { windows, lane, sent, ack } = log({ unprocessed: 2 })
  windows.moved(1, 0)
  windows.moved(2, 0)
  const [busy, quiet] = [lane('busy-1'), lane('quiet-2')]
  busy.add('a1 b1 c1 d1')
  await ack()
  quiet.add('e1')
  expect(sent).toEqual(['a1', 'b1', 'e1'])
  windows.moved(2, 10)
  expect(sent).toEqual(['a1', 'b1', 'e1'])
  windows.moved(1, 1)
  expect(sent).toEqual(['a1', 'b1', 'e1', 'c1'])
})

test('an object that changes all the time is told of in some states, the last among them', async () => {
  const { windows, lane, sent, ack } = log({ perObject: 2 })
  windows.moved(1, 0)
  const host = lane('t1')
  for (let n = 0; n < 100; n++) host.add(`a1/${n}`)
  host.add('b1')
  await ack()
  expect([sent, host.waiting()]).toEqual([['a1/0', 'a1/1', 'b1'], 1])
  windows.moved(1, 3)
  await ack()
  expect(sent).toEqual(['a1/0', 'a1/1', 'b1', 'a1/99'])
})

test('a deletion that is held is kept when another object takes the name', async () => {
  const { windows, lane, sent, ack } = log({ perObject: 1 })
  windows.moved(1, 0)
  const tenant = lane('t1')
  tenant.add('a1 a1 a1x a2 a2')
  for (let processed = 1; processed <= 2; processed++) {
    await ack()
    windows.moved(1, processed)
  }
  expect(sent).toEqual(['a1', 'a1x', 'a2'])
})

test('tenants take turns, however much one of them has', async () => {
  const { lane, sent, ack } = log({ unackedOfAll: 2 })
  lane('greedy-1').add('a1 b1 c1 d1 e1 f1')
  lane('other-2').add('x1 y1')
  while (sent.length < 8) await ack()
  expect(sent).toEqual(['a1', 'b1', 'c1', 'x1', 'd1', 'y1', 'e1', 'f1'])
})

test('the kinds and sides of one tenant share its window, in turns', async () => {
  const { windows, lane, sent, ack } = log({ unprocessed: 1 })
  windows.moved(1, 0)
  const [pods, services] = [lane('t1'), lane('t1')]
  pods.add('a1 b1 c1')
  services.add('s1')
  for (let processed = 1; processed <= 3; processed++) {
    await ack()
    windows.moved(1, processed)
  }
  expect(sent.toSorted()).toEqual(['a1', 'b1', 'c1', 's1'])
  expect(sent.indexOf('s1')).toBeLessThan(3)
})

test('a translator that does not move is waited for no longer; one that nobody knows of, not at all', async () => {
  const { windows, lane, sent, ack, pass } = log({ unprocessed: 1 })
  windows.moved(1, 0)
  lane('t1').add('a1 b1 c1')
  lane('t2').add('x1 y1')
  await ack()
  expect(sent).toEqual(['a1', 'x1', 'y1'])
  pass(4_000)
  windows.sweep()
  expect(sent).toHaveLength(3)
  pass(1_000)
  windows.sweep()
  await ack()
  expect(sent).toEqual(['a1', 'x1', 'y1', 'b1', 'c1'])
})

test('objects of no tenant wait for the log only', async () => {
  const { windows, lane, sent, ack } = log({ unprocessed: 1 })
  windows.moved(0, 0)
  lane('').add('a1 b1')
  await ack()
  expect(sent).toEqual(['a1', 'b1'])
})
