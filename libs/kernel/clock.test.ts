import { expect, test } from 'vitest'
import { systemClock } from './clock.ts'

test('tells the time of day, with fractions of a millisecond', () => {
  expect(Math.abs(systemClock.now() - Date.now())).toBeLessThan(1_000)
})

test('a sleep ends early with the reason of its signal', async () => {
  const stop = new AbortController()
  const sleeping = systemClock.sleep(60_000, stop.signal)
  stop.abort(new Error('enough'))
  await expect(sleeping).rejects.toThrow('enough')
})

test('a sleep does not begin when its signal has aborted before', async () => {
  await expect(systemClock.sleep(60_000, AbortSignal.abort(new Error('too late')))).rejects.toThrow('too late')
})

test('a sleep that ends leaves no listener on its signal', async () => {
  const stop = new AbortController()
  await systemClock.sleep(1, stop.signal)
  stop.abort(new Error('later'))
  expect(stop.signal.aborted).toBe(true)
})
