import { expect, test } from 'vitest'
import type { Job } from './jobs.ts'
import { parseOptions } from './options.ts'
import { runJobs } from './run-jobs.ts'

test('a scenario that fails says so, and the others go on', async () => {
  const ok = (name: string): Job => ({ name, run: () => Promise.resolve({ text: name, result: { of: name } }) })
  const fails: Job = { name: 'second', run: () => Promise.reject(new Error('no such luck')) }
  const done: unknown[] = []
  for await (const each of runJobs(parseOptions([]), [ok('first'), fails, ok('third')], () => undefined))
    done.push(each)
  expect(done).toMatchObject([
    { name: 'first', text: 'first', result: { of: 'first' } },
    { name: 'second', error: 'no such luck' },
    { name: 'third', text: 'third' },
  ])
})
