import { expect, test } from 'vitest'
import type { StreamName } from '#libs/events'
import type { DecisionKey } from '#libs/projection'
import { Batch } from './batch.ts'
import { Takeover } from './takeover.ts'

const STREAMS: readonly StreamName[] = ['CHANGES', 'OUTCOMES']
const keyOf = (resource: string, name: string): DecisionKey => ({
  tenant: 't',
  ref: { resource, namespace: 'default', name },
})
const touching = (...keys: DecisionKey[]): Batch => {
  const batch = new Batch()
  batch.add(keys, { seq: 1, observedAt: 0, loggedAt: 0 })
  return batch
}

test('is over when every stream has been read to where it ended', () => {
  const takeover = new Takeover(STREAMS)
  takeover.endsAt('CHANGES', 10)
  takeover.endsAt('OUTCOMES', 5)
  expect([takeover.reached('CHANGES', 9), takeover.reached('CHANGES', 10), takeover.isOver]).toEqual([
    false,
    false,
    false,
  ])
  expect([takeover.reached('OUTCOMES', 7), takeover.isOver]).toEqual([true, true])
  expect(takeover.reached('OUTCOMES', 8)).toBe(false)
})

test('is over when all there is has been read, wherever the streams end', () => {
  const takeover = new Takeover(STREAMS)
  takeover.endsAt('CHANGES', 10)
  expect(STREAMS.map((stream) => takeover.reached(stream, Number.POSITIVE_INFINITY))).toEqual([false, true])
})

test('hands out what was touched once it is over, each key once, what others need first', () => {
  const takeover = new Takeover(STREAMS)
  takeover.keep(touching(keyOf('pods', 'a'), keyOf('configmaps', 'b')))
  takeover.keep(touching(keyOf('pods', 'a')))
  expect(takeover.take(10)).toEqual([])
  for (const stream of STREAMS) takeover.reached(stream, Number.POSITIVE_INFINITY)
  expect(takeover.take(1).map(({ key }) => key.ref.name)).toEqual(['b'])
  expect(takeover.isEmpty).toBe(false)
  expect(takeover.take(10).map(({ key }) => key.ref.name)).toEqual(['a'])
  expect(takeover.isEmpty).toBe(true)
})
