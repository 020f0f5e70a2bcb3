import { beforeEach, expect, test } from 'vitest'
import { type ManualClock, createManualClock } from '#libs/kube/testing'
import { type Kept, keepRunning } from './keep-running.ts'

type Run = { ended: PromiseWithResolvers<string>; stopped: boolean }

let clock: ManualClock
let runs: Run[]
let told: string[]
/** What the next starts do; without one they succeed at once. */
let starts: (() => Promise<void>)[]

beforeEach(() => {
  clock = createManualClock()
  runs = []
  told = []
  starts = []
})

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

async function advance(ms: number): Promise<void> {
  await settle()
  clock.advance(ms)
  await settle()
}

function keep(): Promise<Kept<Run>> {
  return keepRunning<Run>({
    name: 'it',
    clock,
    start: async () => {
      await starts.shift()?.()
      const run = { ended: Promise.withResolvers<string>(), stopped: false }
      runs.push(run)
      return run
    },
    exited: (run) => run.ended.promise,
    stop: async (run) => {
      run.stopped = true
      run.ended.resolve('stopped')
      await run.ended.promise
    },
    onRestart: (what) => told.push(what),
  })
}

test('is started again when it ends', async () => {
  const kept = await keep()
  runs[0]?.ended.resolve('SIGKILL')
  await advance(100)
  expect(told).toEqual(['it ended (SIGKILL); starting it again', 'it runs again'])
  expect(kept.current).toBe(runs[1])
  await kept.stop()
  expect(runs.map(({ stopped }) => stopped)).toEqual([false, true])
})

test('what ends over and over is started ever more slowly, and soon again once it was well', async () => {
  const kept = await keep()
  const delays: number[] = []
  for (let round = 0; round < 8; round++) {
    runs.at(-1)?.ended.resolve('status 1')
    await settle()
    delays.push(clock.asleep()[0] ?? 0)
    await advance(5_000)
  }
  expect(delays).toEqual([100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000])
  await advance(10_000)
  runs.at(-1)?.ended.resolve('status 1')
  await settle()
  expect(clock.asleep()).toEqual([100])
  await kept.stop()
})

test('a start that fails is tried again', async () => {
  const kept = await keep()
  starts.push(() => Promise.reject(new Error('port taken')))
  runs[0]?.ended.resolve('status 1')
  await advance(100)
  expect(told.at(-1)).toBe('it could not be started: port taken')
  await advance(200)
  expect(told.at(-1)).toBe('it runs again')
  await kept.stop()
})

test('a first start that fails is an error', async () => {
  starts.push(() => Promise.reject(new Error('no such file')))
  await expect(keep()).rejects.toThrow('no such file')
})

test('stopped while it waits to be started, it is not', async () => {
  const kept = await keep()
  runs[0]?.ended.resolve('status 1')
  await settle()
  await kept.stop()
  await advance(10_000)
  expect(runs).toHaveLength(1)
})

test('stopped while it starts, it is ended before that counts as stopped', async () => {
  const kept = await keep()
  const starting = Promise.withResolvers<void>()
  starts.push(() => starting.promise)
  runs[0]?.ended.resolve('status 1')
  await advance(100)
  let isStopped = false
  const stopping = kept.stop().then(() => {
    isStopped = true
  })
  await settle()
  expect(isStopped).toBe(false)
  starting.resolve()
  await stopping
  expect(runs.map(({ stopped }) => stopped)).toEqual([true, true])
})
