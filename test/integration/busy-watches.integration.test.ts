import { once } from 'node:events'
import { type ServerHttp2Stream, createSecureServer } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { systemClock } from '#libs/kernel'
import { createKubeClient, staticClusterConfig } from '#libs/kube'
import { RESOURCES } from '#libs/kube-model'
import { createServerCredential } from '../../services/apiserver/tls/certificate.ts'

test('what a watch brings is taken in before it is read, and keeps no other watch of the connection waiting', async () => {
  const { authority, server: identity } = createServerCredential({
    hosts: ['127.0.0.1'],
    now: systemClock.now(),
    days: 1,
  })
  const server = createSecureServer({ cert: identity.certificate, key: identity.key })
  const streams = new Map<string, ServerHttp2Stream>()
  server.on('stream', (stream, headers) => {
    stream.on('error', () => undefined)
    stream.respond({ ':status': 200 })
    stream.write('\n')
    streams.set(String(headers[':path']).split('?')[0]?.split('/').at(-1) ?? '', stream)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = `https://127.0.0.1:${(server.address() as AddressInfo).port}`
  const client = createKubeClient(staticClusterConfig({ server: address, ca: authority }))
  const stop = new AbortController()
  const watch = { signal: stop.signal, resourceVersion: '1', timeoutSeconds: 60 }
  const [unread, other] = [
    await client.watch(RESOURCES.pods, watch),
    (await client.watch(RESOURCES.configmaps, watch))[Symbol.asyncIterator](),
  ]
  expect((await other.next()).value?.toString()).toBe('\n')

  const sent = Promise.withResolvers<void>()
  streams.get('pods')?.write('x'.repeat(3_000_000), () => sent.resolve())
  await sent.promise
  // More than it takes in: the rest waits at the server.
  streams.get('pods')?.write('x'.repeat(8_000_000))
  streams.get('configmaps')?.write('next\n')
  expect((await other.next()).value?.toString()).toBe('next\n')

  let first = 0
  for await (const chunk of unread) if ((first += chunk.length) > 3_000_000) break
  stop.abort()
  await client.close()
  server.close()
})
