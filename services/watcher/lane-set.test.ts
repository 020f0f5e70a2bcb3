import { expect, test } from 'vitest'
import { BusError, type PubAck } from '#libs/bus'
import { HEADERS, type WireMessage } from '#libs/events'
import { ChangeWindows } from './change-windows.ts'
import { LaneSet } from './lane-set.ts'

function lanes(options: { window: number; limit?: number }) {
  const sent: { message: WireMessage; ack(): void; fail(error: Error): void }[] = []
  const refused: string[] = []
  let held = true
  const set = new LaneSet({
    publisher: {
      publish: (message) =>
        new Promise<PubAck>((resolve, reject) => {
          const ack = () => resolve({ stream: 'CHANGES', seq: 1, duplicate: false })
          sent.push({ message, ack, fail: reject })
        }),
    },
    windows: new ChangeWindows({
      unacked: options.window,
      unprocessed: 100,
      perObject: 100,
      unackedOfAll: 100,
      partitionOf: () => 0,
      now: () => 0,
    }),
    limit: options.limit ?? 1,
    held: () => held,
    onRefused: (subject) => refused.push(subject),
  })
  const settled: string[] = []
  const add = (tenant: string, subject: string, id: string): void =>
    set.lane(tenant).add({
      subject,
      uid: subject,
      isDeletion: false,
      message: { subject, headers: { [HEADERS.msgId]: id }, payload: new Uint8Array() },
      settle: () => settled.push(id),
    })
  return { set, sent, refused, settled, add, lose: () => (held = false) }
}

const subjects = (sent: { message: WireMessage }[]) => sent.map(({ message }) => message.subject)

test('a busy tenant fills its own window only', () => {
  const { sent, add } = lanes({ window: 2 })
  for (const name of ['1', '2', '3', '4']) add('busy', name, name)
  add('quiet', '5', '5')
  expect(subjects(sent)).toEqual(['1', '2', '5'])
})

test('what waits coalesces, under an id of its own, and goes when there is room', async () => {
  const { sent, settled, add } = lanes({ window: 1 })
  add('a', 'x', 'x1')
  add('a', 'y', 'y1')
  add('a', 'y', 'y2')
  expect(settled).toEqual(['y1'])
  sent[0]?.ack()
  await expect.poll(() => subjects(sent)).toEqual(['x', 'y'])
  expect(sent[1]?.message.headers[HEADERS.msgId]).toMatch(/^y2\/.{36}$/)
  sent[1]?.ack()
  await expect.poll(() => settled).toEqual(['y1', 'x1', 'y2'])
})

test('a reader is held while too much waits', async () => {
  const { set, sent, add } = lanes({ window: 1, limit: 1 })
  for (const name of ['1', '2', '3']) add('a', name, name)
  let hasRoom = false
  const room = set.room(new AbortController().signal).then(() => {
    hasRoom = true
  })
  await Promise.resolve()
  expect(hasRoom).toBe(false)
  sent[0]?.ack()
  await room
})

test('a reader that is stopped is let go', async () => {
  const { set, add } = lanes({ window: 0, limit: 0 })
  add('a', '1', '1')
  const stop = new AbortController()
  const room = set.room(stop.signal)
  stop.abort()
  await expect(room).resolves.toBeUndefined()
})

test('nothing is sent once the lease is lost', async () => {
  const { sent, settled, add, lose } = lanes({ window: 1 })
  add('a', '1', '1')
  add('a', '2', '2')
  lose()
  sent[0]?.ack()
  await expect.poll(() => settled).toEqual(['1'])
  expect(subjects(sent)).toEqual(['1'])
})

test('what the log refuses for good is told and holds up nothing', async () => {
  const { sent, refused, settled, add } = lanes({ window: 1 })
  add('a', '1', '1')
  add('a', '2', '2')
  sent[0]?.fail(new BusError('too large', { code: 'MessageInvalid' }))
  await expect.poll(() => subjects(sent)).toEqual(['1', '2'])
  expect([refused, settled]).toEqual([['1'], ['1']])
})

test('what was on its way when the connection was closed is not taken for safe', async () => {
  const { sent, refused, settled, add } = lanes({ window: 1 })
  add('a', '1', '1')
  sent[0]?.fail(new BusError('closed', { code: 'PublisherClosed' }))
  await new Promise(setImmediate)
  expect([refused, settled]).toEqual([[], []])
})

test('what follows a state under an id of its own has one too: as a double of what stood before it would be lost', async () => {
  const { sent, add } = lanes({ window: 1 })
  add('a', 'x', 'x1')
  add('a', 'y', 'y1')
  add('a', 'y', 'y2')
  sent[0]?.ack()
  await expect.poll(() => sent.length).toBe(2)
  add('a', 'y', 'y3')
  sent[1]?.ack()
  await expect.poll(() => sent.length).toBe(3)
  expect(sent[2]?.message.headers[HEADERS.msgId]).toMatch(/^y3\/.{36}$/)
  add('a', 'x', 'x2')
  sent[2]?.ack()
  await expect.poll(() => sent.length).toBe(4)
  expect(sent[3]?.message.headers[HEADERS.msgId]).toBe('x2')
})
