import { expect, test } from 'vitest'
import { systemClock } from '#libs/kernel'
import { DefinitionNews } from './definition-news.ts'

test('who sleeps is woken by a change of a definition', async () => {
  const news = new DefinitionNews()
  const sleeping = news.clock(systemClock).sleep(60_000)
  news.announce()
  news.announce()
  await expect(sleeping).resolves.toBeUndefined()
})

test('who sleeps ends with its own signal, as with any clock', async () => {
  const stop = new AbortController()
  const sleeping = new DefinitionNews().clock(systemClock).sleep(60_000, stop.signal)
  stop.abort(new Error('over'))
  await expect(sleeping).rejects.toThrow('over')
})
