import { afterEach, expect, test } from 'vitest'
import { type HealthServer, serveHealth } from './health-server.ts'

let server: HealthServer

afterEach(() => server.close())

const role = (
  name: string,
  missing: string[],
): { name: string; notReady: () => string[]; done: Promise<void>; close: () => Promise<void> } => ({
  name,
  notReady: () => missing,
  done: Promise.resolve(),
  close: () => Promise.resolve(),
})

async function serve(
  missing: string[] = [],
  metrics: () => Promise<string> = () => Promise.resolve('up 1\n'),
): Promise<void> {
  server = await serveHealth({
    host: '127.0.0.1',
    port: 0,
    roles: () => [role('watcher', []), role('writer', missing)],
    metrics,
  })
}

async function get(path: string): Promise<[number, string]> {
  const response = await fetch(`${server.url}${path}`)
  return [response.status, await response.text()]
}

test('is ready when every role is', async () => {
  await serve()
  expect(await get('/readyz')).toEqual([200, 'ok\n'])
  expect(await get('/livez')).toEqual([200, 'ok\n'])
})

test('says what is missing until then, and lives all the same', async () => {
  await serve(['partitions not taken yet: 3', 'host not synced'])
  expect(await get('/readyz')).toEqual([503, 'writer: partitions not taken yet: 3\nwriter: host not synced\n'])
  expect(await get('/livez')).toEqual([200, 'ok\n'])
})

test('takes probes with a query and of HEAD', async () => {
  await serve()
  expect(await get('/readyz?verbose')).toEqual([200, 'ok\n'])
  expect((await fetch(`${server.url}/livez`, { method: 'HEAD' })).status).toBe(200)
})

test('serves metrics, or says why it cannot', async () => {
  await serve()
  expect(await get('/metrics')).toEqual([200, 'up 1\n'])
  await server.close()
  await serve([], () => Promise.reject(new Error('broken')))
  expect((await get('/metrics'))[0]).toBe(500)
})

test('names its pages to those who ask for another', async () => {
  await serve()
  expect(await get('/')).toEqual([404, 'try /livez, /readyz or /metrics\n'])
})

test('a port that is taken is an error that names the setting', async () => {
  await serve()
  const port = Number(new URL(server.url).port)
  const again = serveHealth({ host: '127.0.0.1', port, roles: () => [], metrics: () => Promise.resolve('') })
  await expect(again).rejects.toThrow(/CAUSEWAY_HTTP_PORT/)
})
