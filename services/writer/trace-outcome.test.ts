import { expect, test } from 'vitest'
import { NO_TRACING, type Tracing } from '#libs/telemetry'
import { outcomeOf } from './outcome-of.ts'
import { type Settled, parked } from './result.ts'
import { intentOf, writes } from './testing/intents.ts'
import { traceOutcome } from './trace-outcome.ts'

const SLOW_MS = 5_000
const traceparent = `00-${'ab'.repeat(16)}-${'cd'.repeat(8)}-00`

/** Names of the spans that are recorded, each with the part that it is of, when a write takes so long. */
function recorded(settled: Settled, of: { ms: number; isSampled?: boolean; traceparent?: string }) {
  const intent = intentOf(writes.create(), { traceparent: of.traceparent ?? traceparent })
  const finishedAt = intent.observedAt + of.ms
  const outcome = outcomeOf(intent, settled, { startedAt: finishedAt - 1, finishedAt })
  const told: { sampled: string[]; unsampled: string[] } = { sampled: [], unsampled: [] }
  const into =
    (list: string[]): Tracing['record'] =>
    (spans) =>
      list.push(...spans.map(({ part, name }) => `${part} ${name}`))
  const tracing: Tracing = {
    ...NO_TRACING,
    slowMs: SLOW_MS,
    wants: () => of.isSampled ?? false,
    record: into(told.sampled),
    recordUnsampled: into(told.unsampled),
  }
  traceOutcome(tracing, intent, { outcome })
  return told
}

const OWN = ['writer process INTENTS', 'writer queue']
const WHOLE = ['watcher watch', 'watcher send CHANGES', 'translator process CHANGES', 'translator send INTENTS', ...OWN]

test('of a sampled trace the writer tells its own part', () => {
  const told = { sampled: OWN, unsampled: [] }
  expect(recorded({ result: 'done' }, { ms: 10, isSampled: true })).toEqual(told)
  expect(recorded(parked('Invalid', 'no'), { ms: SLOW_MS, isSampled: true })).toEqual(told)
})

test('of one that is not sampled it tells nothing, unless the write failed or was slow: then the whole', () => {
  expect(recorded({ result: 'done' }, { ms: 10 })).toEqual({ sampled: [], unsampled: [] })
  expect(recorded({ result: 'superseded' }, { ms: 10 })).toEqual({ sampled: [], unsampled: [] })
  expect(recorded({ result: 'done' }, { ms: SLOW_MS })).toEqual({ sampled: [], unsampled: WHOLE })
  expect(recorded(parked('Invalid', 'no'), { ms: 10 })).toEqual({ sampled: [], unsampled: WHOLE })
})

test('a write without a change to follow from has no trace', () => {
  const told = recorded(parked('Invalid', 'no'), { ms: SLOW_MS, traceparent: 'none' })
  expect(told).toEqual({ sampled: [], unsampled: [] })
})
