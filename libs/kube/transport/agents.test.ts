import { once } from 'node:events'
import { connect, constants, createServer } from 'node:http2'
import type { ClientHttp2Stream } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { openAgents } from './agents.ts'

test('a stream that belongs to no request ends with its connection, and ends nothing else', async () => {
  const agents = openAgents({}, { http2: true, timeoutMs: 1_000 })
  const server = createServer()
  server.on('sessionError', () => undefined)
  server.on('stream', (stream) => {
    stream.on('error', () => undefined)
    stream.pushStream({ ':path': '/unasked' }, (_error, pushed) => pushed.on('error', () => undefined))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const session = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  session.on('error', () => undefined)
  session.request({ ':path': '/' }).on('error', () => undefined)
  const [unasked] = (await once(session, 'stream')) as [ClientHttp2Stream]
  const uncaught: unknown[] = []
  const onUncaught = (error: unknown): number => uncaught.push(error)
  process.on('uncaughtExceptionMonitor', onUncaught)
  const closed = new Promise((resolve) => unasked.on('close', resolve))
  session.destroy(new Error('the client is destroyed'))
  await closed
  process.off('uncaughtExceptionMonitor', onUncaught)
  expect(uncaught).toEqual([])
  server.close()
  await agents.watch.close()
})

test('a request that is aborted before its body is sent is reset, and leaves nothing to send', async () => {
  const agents = openAgents({}, { http2: true, timeoutMs: 1_000 })
  const server = createServer()
  server.on('sessionError', () => undefined)
  server.on('stream', (stream) => stream.on('error', () => undefined))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const session = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  await once(session, 'remoteSettings')
  const stream = session.request({ ':method': 'POST', ':path': '/' }, { endStream: false })
  // More than the server takes without reading.
  stream.end('x'.repeat(100_000))
  stream.close()
  // Without this, what follows does not end.
  expect(stream.rstCode).toBe(constants.NGHTTP2_CANCEL)
  stream.destroy()
  await new Promise((resolve) => session.ping(resolve))
  const closed = once(session, 'close')
  session.destroy()
  await closed
  server.close()
  await agents.watch.close()
})
