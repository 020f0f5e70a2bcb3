import { expect, it } from 'vitest'
import { createAddressPool, podCidr } from './address-pool.ts'

it('never gives an address twice until it is freed', () => {
  const pool = createAddressPool()
  const taken = new Set(Array.from({ length: 2000 }, () => pool.take(0)))
  expect(taken.size).toBe(2000)
  pool.free('10.128.0.1')
  expect(taken.has(pool.take(0))).toBe(false)
})

it('passes over addresses of pods that were there before', () => {
  const pool = createAddressPool()
  pool.occupy('10.128.8.1')
  expect(podCidr(1)).toBe('10.128.8.0/21')
  expect(pool.take(1)).toBe('10.128.8.2')
})

it('says so when a node has no address left', () => {
  const pool = createAddressPool()
  for (let count = 0; count < 2046; count++) pool.take(0)
  expect(() => pool.take(0)).toThrow('no free pod address')
})
