import { expect, test } from 'vitest'
import { createPacer } from './pacer.ts'

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** Works until it is told to pause. @returns how long that was, ms */
function workUntilPause(pacer: ReturnType<typeof createPacer>): { ms: number; pause: Promise<void> } {
  const begun = performance.now()
  for (;;) {
    const pause = pacer.pause()
    if (pause !== undefined) return { ms: performance.now() - begun, pause }
  }
}

test('asks for a pause after a while, in which timers have their turn', async () => {
  let timers = 0
  const timer = setInterval(() => timers++, 1)
  const pacer = createPacer(5)
  for (let round = 0; round < 5; round++) {
    const { ms, pause } = workUntilPause(pacer)
    expect(ms).toBeGreaterThan(4)
    await pause
  }
  clearInterval(timer)
  expect(timers).toBeGreaterThan(0)
})

test('all who share it pause together, and go on together', async () => {
  const pacer = createPacer(5)
  const { pause } = workUntilPause(pacer)
  expect(pacer.pause()).toBe(pause)
  await pause
  expect(pacer.pause()).toBeUndefined()
})

test('work that waits by itself is never asked to', async () => {
  const pacer = createPacer(50)
  const begun = performance.now()
  while (performance.now() - begun < 120) {
    expect(pacer.pause()).toBeUndefined()
    await turn()
  }
})
