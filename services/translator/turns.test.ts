import { expect, test } from 'vitest'
import { Turns } from './turns.ts'

const noFailure = (error: unknown): void => {
  throw error
}

test('steps run one at a time, in the order in which they came', async () => {
  const turns = new Turns(noFailure)
  const seen: string[] = []
  const first = Promise.withResolvers<void>()
  const running = turns.take(async () => {
    seen.push('first begins')
    await first.promise
    seen.push('first ends')
  })
  const second = turns.take(() => void seen.push('second'))
  await Promise.resolve()
  expect(seen).toEqual(['first begins'])
  first.resolve()
  await Promise.all([running, second])
  expect(seen).toEqual(['first begins', 'first ends', 'second'])
})

test('after a step has failed none runs, and none of them rejects', async () => {
  const failures: unknown[] = []
  const turns = new Turns((error) => failures.push(error))
  const seen: string[] = []
  await turns.take(() => Promise.reject(new Error('broken')))
  await turns.take(() => void seen.push('after'))
  expect(failures).toEqual([new Error('broken')])
  expect(seen).toEqual([])
})

test('closing waits for the step that runs and leaves out those that have not begun', async () => {
  const turns = new Turns(noFailure)
  const seen: string[] = []
  const gate = Promise.withResolvers<void>()
  void turns.take(async () => {
    await gate.promise
    seen.push('running')
  })
  void turns.take(() => void seen.push('waiting'))
  await Promise.resolve()
  const closed = turns.close()
  gate.resolve()
  await closed
  expect(seen).toEqual(['running'])
})
