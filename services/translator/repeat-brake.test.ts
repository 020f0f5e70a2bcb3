import { expect, test } from 'vitest'
import { RepeatBrake } from './repeat-brake.ts'

/** How often a write is made that is asked for every `everyMs` during `forMs`. */
function made(brake: RepeatBrake, { from, everyMs, forMs }: { from: number; everyMs: number; forMs: number }): number {
  let count = 0
  for (let now = from; now < from + forMs; now += everyMs) if (brake.ask('write', now) === 0) count++
  return count
}

test('a write that is undone at once each time is made ever more slowly', () => {
  const brake = new RepeatBrake()
  expect(made(brake, { from: 0, everyMs: 50, forMs: 60_000 })).toBeLessThan(20)
  expect(made(brake, { from: 60_000, everyMs: 50, forMs: 3_600_000 })).toBeLessThan(70)
})

test('one that is asked for now and then is made each time', () => {
  expect(made(new RepeatBrake(), { from: 0, everyMs: 11_000, forMs: 1_100_000 })).toBe(100)
})

test('once the fight is over it is free again', () => {
  const brake = new RepeatBrake()
  made(brake, { from: 0, everyMs: 50, forMs: 60_000 })
  expect(made(brake, { from: 400_000, everyMs: 50, forMs: 450 })).toBe(9)
})

test('other writes are not held by it, however many there are', () => {
  const brake = new RepeatBrake()
  for (let now = 0; now < 20_000; now++) expect(brake.ask(`write ${now % 5_000}`, now)).toBe(0)
})

test('says how long to wait', () => {
  const brake = new RepeatBrake()
  for (let count = 0; count < 10; count++) expect(brake.ask('write', 1_000)).toBe(0)
  expect(brake.ask('write', 1_000)).toBe(250)
  expect(brake.ask('write', 1_200)).toBe(50)
  expect(brake.ask('write', 1_250)).toBe(0)
  expect(brake.ask('write', 1_250)).toBe(500)
})
