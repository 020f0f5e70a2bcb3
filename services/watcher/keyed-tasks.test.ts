import { expect, test } from 'vitest'
import { KeyedTasks } from './keyed-tasks.ts'

test('tasks of one key run one after the other, those of others meanwhile', async () => {
  const tasks = new KeyedTasks(8)
  const order: string[] = []
  const gate = Promise.withResolvers<void>()
  const first = tasks.run('a', async () => {
    await gate.promise
    order.push('a1')
  })
  const second = tasks.run('a', async () => void order.push('a2'))
  await tasks.run('b', async () => void order.push('b1'))
  expect(tasks.isBusy('a')).toBe(true)
  gate.resolve()
  await Promise.all([first, second])
  expect(order).toEqual(['b1', 'a1', 'a2'])
  await tasks.idle()
  expect(tasks.isBusy('a')).toBe(false)
})

test('a task that fails keeps those behind it from nothing', async () => {
  const tasks = new KeyedTasks(8)
  const failed = tasks.run('a', () => Promise.reject(new Error('no')))
  const next = tasks.run('a', async () => undefined)
  await expect(failed).rejects.toThrow('no')
  await next
  await tasks.idle()
})

test('there is room again when one of too many is done', async () => {
  const tasks = new KeyedTasks(1)
  const gate = Promise.withResolvers<void>()
  const running = tasks.run('a', () => gate.promise)
  let hasRoom = false
  const room = tasks.room().then(() => {
    hasRoom = true
  })
  await new Promise(setImmediate)
  expect(hasRoom).toBe(false)
  gate.resolve()
  await Promise.all([running, room])
})
