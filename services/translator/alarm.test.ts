import { beforeEach, expect, test } from 'vitest'
import { type ManualClock, createManualClock } from '#libs/kube/testing'
import { Alarm } from './alarm.ts'

let clock: ManualClock
let rung: number[]
let alarm: Alarm
let start: number

beforeEach(() => {
  clock = createManualClock()
  start = clock.now()
  rung = []
  alarm = new Alarm(clock, () => {
    rung.push(clock.now() - start)
    return Promise.resolve()
  })
})

/** Lets promises that are settled be followed. */
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

async function advance(ms: number): Promise<void> {
  clock.advance(ms)
  await settle()
}

test('rings once, at the time', async () => {
  alarm.set(start + 100)
  await advance(99)
  expect(rung).toEqual([])
  await advance(1)
  await advance(1_000)
  expect(rung).toEqual([100])
})

test('of several times the earliest counts, whatever the order', async () => {
  alarm.set(start + 100)
  alarm.set(start + 50)
  alarm.set(start + 200)
  await advance(50)
  await advance(1_000)
  expect(rung).toEqual([50])
  expect(clock.asleep()).toEqual([])
})

test('a time that is past rings at once', async () => {
  alarm.set(start - 5)
  await advance(0)
  expect(rung).toEqual([0])
})

test('can be set again while it rings', async () => {
  alarm = new Alarm(clock, () => {
    rung.push(clock.now() - start)
    if (rung.length < 3) alarm.set(clock.now() + 10)
    return Promise.resolve()
  })
  alarm.set(start + 10)
  for (let round = 0; round < 5; round++) await advance(10)
  expect(rung).toEqual([10, 20, 30])
})

test('an earlier time that is asked for in the moment of ringing rings once', async () => {
  alarm.set(start + 100)
  clock.advance(100)
  alarm.set(start + 50)
  await settle()
  await advance(0)
  await advance(1_000)
  expect(rung).toEqual([100])
  alarm.set(clock.now() + 5)
  await advance(5)
  expect(rung).toHaveLength(2)
})

test('goes on after its owner failed', async () => {
  alarm = new Alarm(clock, () => {
    rung.push(clock.now() - start)
    return Promise.reject(new Error('told elsewhere'))
  })
  alarm.set(start + 10)
  await advance(10)
  alarm.set(start + 20)
  await advance(10)
  expect(rung).toEqual([10, 20])
})

test('rings no more once it is closed', async () => {
  alarm.set(start + 10)
  alarm.close()
  alarm.set(start + 5)
  await advance(100)
  expect(rung).toEqual([])
})
