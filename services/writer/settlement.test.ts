import { expect, test } from 'vitest'
import { Settlement } from './settlement.ts'

const opened = (...seqs: number[]): Settlement => {
  const settlement = new Settlement({ seq: 9, outcomeSeq: 100 })
  for (const seq of seqs) settlement.open(seq)
  return settlement
}

test('starts where it was told to', () => {
  expect(opened().resumePoint()).toEqual({ seq: 9, outcomeSeq: 100 })
})

test('stays before the lowest unsettled intent, whatever is settled after it', () => {
  const settlement = opened(10, 12, 15)
  settlement.settle(15, 101)
  settlement.settle(12, 102)
  expect(settlement.resumePoint()).toEqual({ seq: 9, outcomeSeq: 100 })
  expect(settlement.size).toBe(3)
})

test('skips everything that is settled once the lowest is', () => {
  const settlement = opened(10, 12, 15)
  settlement.settle(12, 101)
  settlement.settle(10, 102)
  expect(settlement.resumePoint()).toEqual({ seq: 14, outcomeSeq: 100 })
  settlement.settle(15, 103)
  expect(settlement.resumePoint()).toEqual({ seq: 15, outcomeSeq: 103 })
  expect(settlement.size).toBe(0)
})

test('keeps the place in the outcomes after which those of open intents come', () => {
  const settlement = opened(10)
  settlement.settle(10, 120)
  settlement.open(11)
  settlement.open(12)
  settlement.settle(12, 121)
  expect(settlement.resumePoint()).toEqual({ seq: 10, outcomeSeq: 120 })
})
