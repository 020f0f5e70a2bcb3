import { afterEach, beforeEach, expect, test } from 'vitest'
import { startFakeApiServer } from '../testing/fake-api-server.ts'
import type { FakeApiServer } from '../testing/fake-api-server.ts'
import { jsonReply, statusReply } from '../testing/replies.ts'
import { createKubeClient } from './create-kube-client.ts'
import type { KubeClient } from './kube-client.ts'

const widgets = { group: 'example.com', version: '', plural: 'widgets', kind: 'widgets', namespaced: true }

let server: FakeApiServer
let client: KubeClient

beforeEach(async () => {
  server = await startFakeApiServer('/clusters/team-a')
  client = createKubeClient(server.config, { timeoutMs: 5_000 })
})
afterEach(async () => {
  await client.close()
  await server.close()
})

const paths = () => server.requests.map(({ path }) => path)

test('a resource without a version is asked for in the version that the server prefers and serves it in', async () => {
  const versions = [{ version: 'v2' }, { version: 'v1' }]
  server.script('other', jsonReply({ preferredVersion: { version: 'v2' }, versions }))
  server.script('other', jsonReply({ resources: [{ name: 'gadgets', kind: 'Gadget' }] }))
  server.script('other', jsonReply({ resources: [{ name: 'widgets', kind: 'Widget' }] }))
  server.script('other', jsonReply({ metadata: { name: 'one' } }))
  server.script('other', jsonReply({ metadata: { name: 'two' } }))
  await client.get(widgets, { namespace: 'shop', name: 'one' })
  await client.get(widgets, { namespace: 'shop', name: 'two' })
  expect(paths()).toEqual([
    '/apis/example.com',
    '/apis/example.com/v2',
    '/apis/example.com/v1',
    '/apis/example.com/v1/namespaces/shop/widgets/one',
    '/apis/example.com/v1/namespaces/shop/widgets/two',
  ])
})

test('one that is not served is a NotFound of the server, and is looked up again by the next call', async () => {
  server.script('other', statusReply(404, { reason: 'NotFound', message: 'no such group' }))
  server.script('other', statusReply(404, { reason: 'NotFound', message: 'no such path' }))
  await expect(client.get(widgets, { namespace: 'shop', name: 'one' })).rejects.toMatchObject({ statusCode: 404 })
  server.script('other', jsonReply({ preferredVersion: { version: 'v1' }, versions: [{ version: 'v1' }] }))
  server.script('other', jsonReply({ resources: [{ name: 'widgets', kind: 'Widget' }] }))
  server.script('other', jsonReply({ metadata: { name: 'one' } }))
  await expect(client.get(widgets, { namespace: 'shop', name: 'one' })).resolves.toMatchObject({
    metadata: { name: 'one' },
  })
})
