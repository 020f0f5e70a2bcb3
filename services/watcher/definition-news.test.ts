import { expect, test } from 'vitest'
import { systemClock } from '#libs/kernel'
import { DefinitionNews } from './definition-news.ts'

const GADGETS = 'gadgets.example.com'

test('who sleeps is woken by a change of the definition that it waits for, and of no other', async () => {
  const news = new DefinitionNews()
  const other = new AbortController()
  const sleepingOn = news.clock(systemClock, 'widgets.example.com').sleep(60_000, other.signal)
  const sleeping = news.clock(systemClock, GADGETS).sleep(60_000)
  news.announce(GADGETS)
  news.announce(GADGETS)
  await expect(sleeping).resolves.toBeUndefined()
  other.abort(new Error('slept on'))
  await expect(sleepingOn).rejects.toThrow('slept on')
})

test('who sleeps ends with its own signal, as with any clock', async () => {
  const stop = new AbortController()
  const sleeping = new DefinitionNews().clock(systemClock, GADGETS).sleep(60_000, stop.signal)
  stop.abort(new Error('over'))
  await expect(sleeping).rejects.toThrow('over')
})

test('tells which kinds are missing, and when that changes', async () => {
  const news = new DefinitionNews()
  const changed = news.changed()
  news.note(GADGETS, true)
  await changed
  expect([...news.missing]).toEqual([GADGETS])
  news.note(GADGETS, false)
  expect(news.missing.size).toBe(0)
})
