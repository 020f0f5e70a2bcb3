import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { RESOURCES } from '#libs/kube-model'
import type { KubeObject } from '#libs/kube-model'
import { createKubeClient } from '../client/create-kube-client.ts'
import type { KubeClient } from '../client/kube-client.ts'
import { startFakeApiServer } from '../testing/fake-api-server.ts'
import type { FakeApiServer } from '../testing/fake-api-server.ts'
import { createManualClock } from '../testing/manual-clock.ts'
import type { ManualClock } from '../testing/manual-clock.ts'
import { eventLine, listReply, resetReply, statusReply, streamReply } from '../testing/replies.ts'
import { reflect } from './reflect.ts'
import type { ReflectOptions } from './reflect.ts'
import type { ReflectorEvent } from './reflector-event.ts'

let server: FakeApiServer
let client: KubeClient
let clock: ManualClock
let stop: AbortController

beforeEach(async () => {
  server = await startFakeApiServer('/clusters/team-a')
  client = createKubeClient(server.config, { maxBodyBytes: 10_000 })
  clock = createManualClock()
  stop = new AbortController()
})
afterEach(async () => {
  stop.abort(new Error('test is over'))
  await client.close()
  await server.close()
})

const FAST = { interval: 5, timeout: 5_000 }

const pod = (name: string, resourceVersion: string): KubeObject => ({
  metadata: { name, namespace: 'shop', uid: `uid-${name}`, resourceVersion },
})
const known = (name: string) => ({ namespace: 'shop', name, uid: `uid-${name}` })
const modified = (name: string, resourceVersion: string): string => eventLine('MODIFIED', pod(name, resourceVersion))
const bookmark = (resourceVersion: string): string =>
  eventLine('BOOKMARK', { kind: 'Pod', metadata: { resourceVersion } })

function optionsFor(options: Partial<ReflectOptions>): ReflectOptions {
  return { client, resource: RESOURCES.pods, clock, random: () => 0.5, signal: stop.signal, ...options }
}

/** Runs a reflector in the background and notes what it hands out. */
function run(options: Partial<ReflectOptions> = {}) {
  const events: ReflectorEvent[] = []
  const consume = async (): Promise<void> => {
    for await (const event of reflect(optionsFor(options))) events.push(event)
  }
  const done = consume()
  return { events, done, seen: () => events.map(summary) }
}

function summary(event: ReflectorEvent): string {
  switch (event.type) {
    case 'STATE':
      return event.state
    case 'LISTED':
      return `listed ${event.resourceVersion} (${event.cause}), ${event.count}, missing ${event.missing.map((it) => it.name).join(' ')}`
    case 'BOOKMARK':
      return `bookmark ${event.resourceVersion}`
    case 'ADDED':
    case 'MODIFIED':
    case 'DELETED':
      return `${event.type} ${event.object.metadata.name} ${event.object.metadata.resourceVersion}`
  }
}

const queriesOf = (kind: string) => server.requests.filter((request) => request.kind === kind).map((it) => it.query)

describe('reflect', () => {
  test('lists all pages, then watches from the version of the list', async () => {
    server.script('list', listReply([pod('a', '3')], { resourceVersion: '9', continueToken: 'next' }))
    server.script('list', listReply([pod('b', '5')], { resourceVersion: '9' }))
    server.script('watch', streamReply([modified('a', '10')], 'hold'))
    const { seen, events } = run({ labelSelector: 'causeway.dev/tenant', namespace: 'shop' })
    await expect
      .poll(seen, FAST)
      .toEqual(['listing', 'ADDED a 3', 'ADDED b 5', 'listed 9 (start), 2, missing ', 'watching', 'MODIFIED a 10'])

    const item = { type: 'ADDED', object: { apiVersion: 'v1', kind: 'Pod', ...pod('a', '3') } }
    expect(events[1]).toMatchObject({ initial: true, observedAt: clock.now(), raw: Buffer.from(JSON.stringify(item)) })
    expect(events[5]).toMatchObject({ initial: false, raw: Buffer.from(modified('a', '10').trimEnd()) })
    expect(server.requests[0]).toMatchObject({ path: '/api/v1/namespaces/shop/pods' })
    expect(queriesOf('list')).toEqual([
      { limit: '500', labelSelector: 'causeway.dev/tenant' },
      { limit: '500', labelSelector: 'causeway.dev/tenant', continue: 'next' },
    ])
    expect(queriesOf('watch')).toEqual([
      {
        watch: 'true',
        allowWatchBookmarks: 'true',
        labelSelector: 'causeway.dev/tenant',
        resourceVersion: '9',
        timeoutSeconds: '450',
      },
    ])
  })

  test('resumes from a checkpoint without a list', async () => {
    server.script('watch', streamReply([modified('a', '11')], 'hold'))
    const { seen } = run({ checkpoint: '10' })
    await expect.poll(seen, FAST).toEqual(['watching', 'MODIFIED a 11'])
    expect(queriesOf('list')).toEqual([])
    expect(queriesOf('watch')).toMatchObject([{ resourceVersion: '10' }])
  })

  test('resumes after the last event or bookmark when the server ends a watch', async () => {
    server.script('watch', streamReply([modified('a', '11'), bookmark('20')], 'end'))
    const { seen } = run({ checkpoint: '10' })
    await expect.poll(seen, FAST).toEqual(['watching', 'MODIFIED a 11', 'bookmark 20', 'watching'])
    expect(queriesOf('watch')).toMatchObject([{ resourceVersion: '10' }, { resourceVersion: '20' }])
  })

  test.each([
    ['the watch answers 410', statusReply(410, { reason: 'Expired' })],
    ['the server cannot read the checkpoint', statusReply(400, { reason: 'BadRequest' })],
    ['the checkpoint lies ahead', statusReply(504, { details: { causes: [{ reason: 'ResourceVersionTooLarge' }] } })],
    [
      'the watch brings an ERROR event with 410',
      streamReply([eventLine('ERROR', { code: 410, reason: 'Expired' })], 'end'),
    ],
  ])('lists again when %s, and tells what is missing', async (_, expired) => {
    server.script('watch', expired)
    server.script('list', listReply([pod('a', '30')], { resourceVersion: '40' }))
    const { events } = run({ checkpoint: '10', known: () => [known('a'), known('gone')] })
    await expect
      .poll(() => queriesOf('watch'), FAST)
      .toMatchObject([{ resourceVersion: '10' }, { resourceVersion: '40' }])
    await expect
      .poll(() => events.map(summary).filter((it) => it !== 'watching'), FAST)
      .toEqual(['listing', 'ADDED a 30', 'listed 40 (expired), 1, missing gone'])
  })

  test('lists everything in one page when the continue token expires, and forgets the first pages', async () => {
    server.script(
      'list',
      listReply([pod('a', '3'), pod('gone', '4')], { resourceVersion: '9', continueToken: 'next' }),
      statusReply(410, { reason: 'Expired' }),
    )
    server.script('other', listReply([pod('a', '3')], { resourceVersion: '19' }))
    const { seen } = run()
    await expect
      .poll(seen, FAST)
      .toEqual(['listing', 'ADDED a 3', 'ADDED gone 4', 'ADDED a 3', 'listed 19 (start), 1, missing gone', 'watching'])
  })

  test('tells what is missing since a list that broke off half-way', async () => {
    server.script('list', listReply([pod('gone', '4')], { resourceVersion: '9', continueToken: 'next' }), resetReply)
    server.script('list', listReply([pod('a', '3')], { resourceVersion: '19' }))
    const { seen } = run()
    await expect.poll(seen, FAST).toEqual(['listing', 'ADDED gone 4', 'backing-off'])
    clock.advance(400)
    await expect
      .poll(seen, FAST)
      .toEqual([
        'listing',
        'ADDED gone 4',
        'backing-off',
        'listing',
        'ADDED a 3',
        'listed 19 (start), 1, missing gone',
        'watching',
      ])
  })

  test('asks for smaller pages when one is too large', async () => {
    server.script('list', listReply([{ ...pod('big', '4'), data: 'x'.repeat(20_000) }], { resourceVersion: '9' }))
    const { seen } = run()
    await expect.poll(seen, FAST).toEqual(['listing', 'listed 1 (start), 0, missing ', 'watching'])
    expect(queriesOf('list')).toEqual([{ limit: '500' }, { limit: '250' }])
  })

  test.each([
    ['the connection breaks', streamReply([modified('a', '11')], 'reset')],
    ['a line is cut off', streamReply([modified('a', '11'), '{"type":"MODIF'], 'end')],
    [
      'a line is corrupt',
      streamReply([modified('a', '11'), '{"type":"MODIFIED","obj"}\n', modified('a', '13')], 'hold'),
    ],
    ['a line is too long', streamReply([modified('a', '11'), 'x'.repeat(5_000)], 'hold')],
    ['an event is an error', streamReply([modified('a', '11'), eventLine('ERROR', { code: 500 })], 'hold')],
  ])('resumes after the last good event, with a pause, when %s', async (_, broken) => {
    server.script('watch', broken, streamReply([modified('a', '12')], 'hold'))
    const { seen } = run({ checkpoint: '10', maxLineBytes: 4_000 })
    await expect.poll(seen, FAST).toEqual(['watching', 'MODIFIED a 11', 'backing-off'])
    await expect.poll(() => clock.asleep(), FAST).toEqual([400])
    clock.advance(400)
    await expect.poll(seen, FAST).toEqual(['watching', 'MODIFIED a 11', 'backing-off', 'watching', 'MODIFIED a 12'])
    expect(queriesOf('watch')).toMatchObject([{ resourceVersion: '10' }, { resourceVersion: '11' }])
  })

  test('opens a silent watch anew, without a pause', async () => {
    const { seen } = run({ checkpoint: '10' })
    await expect.poll(seen, FAST).toEqual(['watching'])
    await expect.poll(() => clock.asleep(), FAST).toEqual([100_000])
    clock.advance(100_000)
    await expect.poll(seen, FAST).toEqual(['watching', 'watching'])
  })

  test('does not take a slow consumer for a silent server', async () => {
    server.script('watch', streamReply([modified('a', '11')], 'hold'))
    const iterator = reflect(optionsFor({ checkpoint: '10' }))
    await iterator.next()
    await iterator.next()
    clock.advance(250_000)
    const following = iterator.next()
    await expect.poll(() => clock.asleep(), FAST).toEqual([100_000])
    expect(queriesOf('watch')).toHaveLength(1)
    stop.abort(new Error('enough'))
    expect(await following).toMatchObject({ done: true })
  })

  test('gives up a watch that outlives what the server was asked for', async () => {
    const iterator = reflect(optionsFor({ checkpoint: '10', idleMs: 10_000_000 }))
    await iterator.next()
    const following = iterator.next()
    await expect.poll(() => clock.asleep(), FAST).toEqual([465_000])
    clock.advance(465_000)
    expect(await following).toMatchObject({ value: { type: 'STATE', state: 'watching' } })
    await iterator.return()
  })

  test('waits as long as a throttling server asks', async () => {
    server.script('watch', statusReply(429, { retryAfterSeconds: 7 }))
    const { seen, events } = run({ checkpoint: '10' })
    await expect.poll(seen, FAST).toEqual(['backing-off'])
    expect(events[0]).toMatchObject({ delayMs: 7_000, message: expect.stringContaining('429') })
    await expect.poll(() => clock.asleep(), FAST).toEqual([7_000])
    clock.advance(7_000)
    await expect.poll(seen, FAST).toEqual(['backing-off', 'watching'])
  })

  test('says why it may not read, and tries again slowly', async () => {
    server.script('list', statusReply(403, { reason: 'Forbidden', message: 'pods is forbidden' }))
    const { seen, events } = run()
    await expect.poll(seen, FAST).toEqual(['listing', 'backing-off'])
    expect(events[1]).toMatchObject({ delayMs: 5_000, message: 'GET /api/v1/pods: 403 pods is forbidden' })
  })

  test('ends without an error when it is stopped while it watches or waits', async () => {
    const watching = run({ checkpoint: '10' })
    await expect.poll(watching.seen, FAST).toEqual(['watching'])
    server.script('list', resetReply)
    const waiting = run()
    await expect.poll(waiting.seen, FAST).toEqual(['listing', 'backing-off'])
    stop.abort(new Error('stop'))
    await watching.done
    await waiting.done
    expect(clock.asleep()).toEqual([])
  })

  test('ends loudly when the consumer fails, and lets go of its connection', async () => {
    server.script('watch', streamReply([modified('a', '11')], 'hold'))
    const consume = async (): Promise<void> => {
      for await (const event of reflect(optionsFor({ checkpoint: '10' }))) {
        if (event.type === 'MODIFIED') throw new Error('log is full')
      }
    }
    await expect(consume()).rejects.toThrow('log is full')
    expect(clock.asleep()).toEqual([])
  })
})
