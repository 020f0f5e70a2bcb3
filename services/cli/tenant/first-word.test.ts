import { expect, test } from 'vitest'
import type { KvEvent } from '#libs/bus'
import { firstWord, servedLine } from './first-word.ts'
import type { Health } from './health.ts'

const said = (revision: number, state: string, message = ''): KvEvent<Health> => ({
  type: 'put',
  key: 'tenant.a',
  revision,
  value: { state, message, since: '' },
})

function after(revision: number, events: KvEvent<Health>[], timeoutMs = 10_000): Promise<Health | undefined> {
  const watch = async function* ({ signal }: { signal?: AbortSignal } = {}): AsyncGenerator<KvEvent<Health>> {
    yield* events
    await new Promise((resolve) => signal?.addEventListener('abort', resolve))
  }
  return firstWord({ watch }, 'a', { after: revision, signal: new AbortController().signal, timeoutMs })
}

test('the first word is how the API was found, not that it is being listed', async () => {
  const events = [{ type: 'ready' } as const, said(8, 'listing'), said(9, 'unauthorized', '401'), said(10, 'synced')]
  expect(await after(0, events)).toMatchObject({ state: 'unauthorized', message: '401' })
})

test('what was said of an earlier tenant of the name does not count', async () => {
  expect(
    await after(8, [said(8, 'synced'), { type: 'delete', key: 'tenant.a' }, said(9, 'unreachable')]),
  ).toMatchObject({
    state: 'unreachable',
  })
})

test('nobody is waited for longer than the time', async () => {
  expect(await after(0, [said(1, 'listing')], 20)).toBeUndefined()
})

test('a tenant is called served when it is, and otherwise why not', () => {
  expect(servedLine('a', 'ns', { state: 'synced', message: '', since: '' })).toBe(
    'tenant a is served; its pods run in host namespace ns',
  )
  expect(servedLine('a', 'ns', { state: 'unauthorized', message: '401 Unauthorized', since: '' })).toBe(
    'tenant a is registered; not served yet: unauthorized: 401 Unauthorized',
  )
  expect(servedLine('a', 'ns', undefined)).toBe(
    'tenant a is registered; not served yet: no watcher has reached it so far',
  )
})
