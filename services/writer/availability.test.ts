import { expect, test } from 'vitest'
import { Availability } from './availability.ts'

const at = (now: number) => ({ now, message: 'ECONNREFUSED' })

test('a server is up until a write has used up its time without any answer', () => {
  const availability = new Availability()
  expect(availability.objection(0)).toBeUndefined()
  availability.gaveUp(0, at(30_000))
  expect(availability.isDown).toBe(true)
  expect(availability.objection(30_001)).toBe('ECONNREFUSED')
})

test('one that answered others meanwhile is up: only that write fails', () => {
  const availability = new Availability()
  availability.answered(10_000)
  availability.gaveUp(5_000, at(35_000))
  expect(availability.objection(35_001)).toBeUndefined()
})

test('while it is down one write now and then finds out, ever more rarely', () => {
  const availability = new Availability()
  availability.gaveUp(0, at(0))
  expect(availability.objection(999)).toBe('ECONNREFUSED')
  expect(availability.objection(1_000)).toBeUndefined()
  expect(availability.objection(1_001)).toBe('ECONNREFUSED')
  availability.gaveUp(1_000, at(1_100))
  expect(availability.objection(3_000)).toBe('ECONNREFUSED')
  expect(availability.objection(3_100)).toBeUndefined()
})

test('any answer ends it', () => {
  const availability = new Availability()
  availability.gaveUp(0, at(0))
  availability.answered(500)
  expect(availability.objection(501)).toBeUndefined()
  expect(availability.isDown).toBe(false)
})
