import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  type Bus,
  BusError,
  connectBus,
  createPublisher,
  ensureStreams,
  openKv,
  originOf,
  readLast,
  readOrdered,
  startNatsServer,
} from '#libs/bus'
import { type TestNats, startTestNats } from '#libs/bus/testing'
import { HEADERS, STREAMS, streamDeclarations, type WireMessage } from '#libs/events'

let nats: TestNats
let bus: Bus

beforeEach(async () => {
  nats = await startTestNats()
  bus = await connectBus({ servers: nats.url, name: 'test' })
  await ensureStreams(bus, streamDeclarations({ historyBytes: 64 * 1024 ** 2 }))
})

afterEach(async () => {
  await bus.close()
  await nats.stop()
})

const payload = new Uint8Array(500)

function change(object: string, version: number): WireMessage {
  const subject = `change.1.team-a.virtual.pods.default.${object}`
  return { subject, headers: { [HEADERS.msgId]: `${object}/${version}`, Version: String(version) }, payload }
}

describe('publishing', () => {
  test('stores messages in order and says where', async () => {
    const publisher = createPublisher(bus)
    const acks = await Promise.all([1, 2, 3].map((version) => publisher.publish(change('web', version))))
    expect(acks).toEqual([1, 2, 3].map((seq) => ({ stream: 'CHANGES', seq, duplicate: false })))
    expect(await publisher.publish(change('web', 3))).toEqual({ stream: 'CHANGES', seq: 3, duplicate: true })
    publisher.close()
  })

  test('keeps to its window', async () => {
    const publisher = createPublisher(bus, { window: 10 })
    for (let i = 0; i < 100; i += 1) {
      await publisher.ready()
      void publisher.publish(change(`pod-${i}`, 1))
      expect(publisher.unsettled).toBeLessThanOrEqual(10)
    }
    await publisher.flush()
    expect(publisher.unsettled).toBe(0)
    publisher.close()
  })

  test('rejects what can never be stored, and goes on', async () => {
    const publisher = createPublisher(bus)
    const tooLarge = { ...change('web', 1), payload: new Uint8Array(9 * 1024 ** 2) }
    const forged = { ...change('web', 2), headers: { Uid: 'a\r\nNats-Rollup: all' } }
    const badTtl = { ...change('web', 3), headers: { 'Nats-TTL': 'soon' } }
    await expect(publisher.publish(tooLarge)).rejects.toMatchObject({ code: 'MessageInvalid' })
    await expect(publisher.publish(forged)).rejects.toMatchObject({ code: 'MessageInvalid' })
    await expect(publisher.publish(badTtl)).rejects.toMatchObject({ code: 'PublishRejected' })
    await expect(publisher.publish(change('web', 4))).resolves.toMatchObject({ duplicate: false })
    publisher.close()
  })

  test('rejects what is unsettled when it is closed', async () => {
    const publisher = createPublisher(bus)
    await nats.kill()
    const lost = publisher.publish(change('web', 1))
    publisher.close()
    await expect(lost).rejects.toMatchObject({ code: 'PublisherClosed' })
    await expect(publisher.publish(change('web', 2))).rejects.toMatchObject({ code: 'PublisherClosed' })
  })
})

describe('a killed server', () => {
  test('loses, doubles and reorders nothing that is published and read across two kills', async () => {
    const objects = 40
    const versions = 250
    const publisher = createPublisher(bus, { window: 200, ackTimeoutMs: 1_000 })
    const readerEnd = new AbortController()
    const interruptions: string[] = []
    const reader = readOrdered(bus, {
      stream: STREAMS.changes,
      filterSubjects: ['change.1.>'],
      startSeq: 1,
      signal: readerEnd.signal,
      capacity: 100,
      onInterruption: (reason) => interruptions.push(reason),
    })
    const seen = new Map<string, number[]>()
    const sequences: number[] = []
    let count = 0
    const reading = (async () => {
      for await (const batch of reader) {
        for (const message of batch) {
          const list = seen.get(message.subject) ?? []
          seen.set(message.subject, list)
          list.push(Number(message.headers['Version']))
          sequences.push(message.seq)
          count += 1
        }
        if (count >= objects * versions) return
      }
    })()
    const acks: Promise<unknown>[] = []
    for (let version = 1; version <= versions; version += 1) {
      for (let object = 0; object < objects; object += 1) {
        await publisher.ready()
        acks.push(publisher.publish(change(`pod-${object}`, version)))
      }
      if (version === 80 || version === 160) {
        await nats.kill()
        await nats.restart()
      }
    }
    await Promise.all(acks)
    await reading
    readerEnd.abort()
    publisher.close()

    const expected = Array.from({ length: versions }, (_, index) => index + 1)
    expect([...seen.values()]).toEqual(Array.from({ length: objects }, () => expected))
    expect(sequences).toEqual(Array.from({ length: objects * versions }, (_, index) => index + 1))
    expect(interruptions.length).toBeGreaterThanOrEqual(2)
  })
})

describe('a process that is to stop while the server is gone', () => {
  test('waits for nothing: what is not stored is rejected, and the connection is closed', async () => {
    const stop = new AbortController()
    const ending = await connectBus({ servers: nats.url, name: 'ending', stopping: stop.signal })
    const kv = await openKv<number>(ending, { bucket: 'values' })
    const publisher = createPublisher(ending)
    await nats.kill()
    await expect.poll(() => ending.isConnected()).toBe(false)
    const order: string[] = []
    const said = (what: string) => (error: BusError) => order.push(`${what}: ${error.code}`)
    const calls = [
      // On a connection of its own that is not told to stop, this one has all its time.
      openKv(bus, { bucket: 'others' }).catch(said('running')),
      kv.put('a', 1).catch(said('call')),
      publisher.publish(change('web', 1)).catch(said('change')),
    ]
    stop.abort()
    await publisher.flush()
    await ending.closed
    await kv.delete('a').catch(said('late call'))
    await Promise.all(calls.slice(1))
    expect(order.toSorted()).toEqual(['call: KvFailed', 'change: NatsClosed', 'late call: KvFailed'])
    await nats.restart()
    await calls[0]
    expect(order).toHaveLength(3)
  })

  test('does not wait for one that is connected and silent either', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'causeway-nats-'))
    const silent = await startNatsServer({ dataDir, port: 0, syncInterval: '2m' })
    try {
      const stop = new AbortController()
      const ending = await connectBus({ servers: silent.url, name: 'ending', stopping: stop.signal })
      const kv = await openKv<number>(ending, { bucket: 'values' })
      silent.process.kill('SIGSTOP')
      const call = kv.put('a', 1).catch((error: BusError) => error.code)
      stop.abort()
      await ending.closed
      expect(await call).toBe('KvFailed')
    } finally {
      silent.process.kill('SIGCONT')
      await silent.stop()
      rmSync(dataDir, { recursive: true, force: true })
    }
  })

  test('keeps its connection as long as the server is there', async () => {
    const stop = new AbortController()
    const ending = await connectBus({ servers: nats.url, name: 'ending', stopping: stop.signal })
    const kv = await openKv<number>(ending, { bucket: 'values' })
    stop.abort()
    expect(await kv.put('a', 1)).toBe(1)
    expect((await kv.get('a'))?.value).toBe(1)
    await ending.close()
  })
})

describe('reading', () => {
  async function publishMany(count: number): Promise<void> {
    const publisher = createPublisher(bus)
    await Promise.all(Array.from({ length: count }, (_, i) => publisher.publish(change(`pod-${i % 10}`, i))))
    publisher.close()
  }

  test('goes on after a stored position and says when it has caught up', async () => {
    await publishMany(50)
    const end = new AbortController()
    const reader = readOrdered(bus, { stream: STREAMS.changes, startSeq: 41, signal: end.signal })
    void reader.caughtUp.then(() => end.abort())
    const sequences: number[] = []
    for await (const batch of reader) sequences.push(...batch.map((message) => message.seq))
    expect(sequences).toEqual([41, 42, 43, 44, 45, 46, 47, 48, 49, 50])
    expect(reader).toMatchObject({ lastSeq: 50, pending: 0 })
  })

  test('is caught up at once where there is nothing, and its position follows the stream', async () => {
    await publishMany(20)
    const end = new AbortController()
    const reader = readOrdered(bus, {
      stream: STREAMS.changes,
      filterSubjects: ['change.7.>'],
      startSeq: 1,
      signal: end.signal,
    })
    const reading = (async () => {
      for await (const batch of reader) expect(batch).toEqual([])
    })()
    await reader.caughtUp
    expect(reader.lastSeq).toBe(0)
    expect(await reader.position()).toBe(20)
    end.abort()
    await reading
  })

  test('ends with an error where the stream was truncated, and goes on where the reader takes note', async () => {
    await publishMany(30)
    await bus.manager.streams.purge(STREAMS.changes, { seq: 21 })
    const strict = readOrdered(bus, { stream: STREAMS.changes, startSeq: 5 })
    await expect(strict[Symbol.asyncIterator]().next()).rejects.toMatchObject({ code: 'StreamMismatch' })

    const gaps: unknown[] = []
    const lenient = readOrdered(bus, { stream: STREAMS.changes, startSeq: 5, onGap: (gap) => gaps.push(gap) })
    for await (const batch of lenient) {
      expect(batch[0]?.seq).toBe(21)
      break
    }
    expect(gaps).toEqual([{ kind: 'truncated', stream: 'CHANGES', from: 5, resumeAt: 21 }])
  })

  test('tells a stream that was made anew from one that is quiet', async () => {
    await publishMany(3)
    const reader = readOrdered(bus, { stream: STREAMS.changes, startSeq: 100 })
    await expect(reader[Symbol.asyncIterator]().next()).rejects.toThrow(/not the stream that was read before/)
  })

  test('waits for a slow reader, holding no more than its capacity', async () => {
    await publishMany(200)
    const end = new AbortController()
    const reader = readOrdered(bus, { stream: STREAMS.changes, startSeq: 1, signal: end.signal, capacity: 20 })
    void reader.caughtUp.then(() => end.abort())
    const sequences: number[] = []
    for await (const batch of reader) {
      expect(batch.length).toBeLessThanOrEqual(20)
      sequences.push(...batch.map((message) => message.seq))
      await bus.nats.flush()
    }
    expect(sequences).toEqual(Array.from({ length: 200 }, (_, index) => index + 1))
  })

  test('recovers when its consumer is deleted', async () => {
    await publishMany(5)
    const end = new AbortController()
    const reader = readOrdered(bus, { stream: STREAMS.changes, startSeq: 1, signal: end.signal })
    const sequences: number[] = []
    for await (const batch of reader) {
      sequences.push(...batch.map((message) => message.seq))
      if (sequences.length === 5) {
        for await (const consumer of bus.manager.consumers.list(STREAMS.changes)) {
          if (consumer.name.startsWith('reader-')) await bus.manager.consumers.delete(STREAMS.changes, consumer.name)
        }
        await publishMany(10)
      }
      if (sequences.length >= 10) break
    }
    // The first five of the second round are doubles.
    expect(sequences).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
  })

  test('last messages are those of the sourced stream, with where they came from', async () => {
    await publishMany(30)
    await expect.poll(() => bus.manager.streams.info(STREAMS.state).then((info) => info.state.messages)).toBe(10)
    const origins: number[] = []
    for await (const batch of readLast(bus, { stream: STREAMS.state, filterSubjects: ['change.1.>'] }))
      origins.push(...batch.map((message) => originOf(message)?.seq ?? -1))
    expect(origins.toSorted((a, b) => a - b)).toEqual([21, 22, 23, 24, 25, 26, 27, 28, 29, 30])
    const direct: number[] = []
    for await (const batch of readLast(bus, { stream: STREAMS.changes })) direct.push(...batch.map(({ seq }) => seq))
    expect(direct).toEqual([21, 22, 23, 24, 25, 26, 27, 28, 29, 30])
  })

  test('a tombstone leaves the sourced stream when its time is over', async () => {
    const publisher = createPublisher(bus)
    const tombstone = change('web', 1)
    await publisher.publish({ ...tombstone, headers: { ...tombstone.headers, [HEADERS.ttl]: '1s' } })
    await publisher.publish(change('db', 1))
    const messages = () => bus.manager.streams.info(STREAMS.state).then((info) => info.state.messages)
    await expect.poll(messages).toBe(2)
    await expect.poll(messages, { timeout: 10_000 }).toBe(1)
    publisher.close()
  })
})

describe('streams', () => {
  test('are left alone when nothing differs, and changed where that can be done', async () => {
    const declarations = streamDeclarations({ historyBytes: 64 * 1024 ** 2 })
    expect(await ensureStreams(bus, declarations)).toEqual([])
    const longer = streamDeclarations({ historyBytes: 64 * 1024 ** 2, historyHours: 100 })
    expect(await ensureStreams(bus, longer)).toEqual(['CHANGES', 'INTENTS', 'OUTCOMES'])
    expect(await ensureStreams(bus, longer)).toEqual([])
  })

  test('that cannot be changed are an error that says what to do', async () => {
    await bus.manager.streams.delete(STREAMS.intents)
    await bus.manager.streams.add({ name: STREAMS.intents, subjects: ['intent.>'], retention: 'workqueue' })
    const ensured = ensureStreams(bus, streamDeclarations())
    await expect(ensured).rejects.toThrow(/retention is workqueue, not limits.*nats stream rm INTENTS/s)
    await expect(ensured).rejects.toMatchObject({ code: 'StreamMismatch' })
  })
})

describe('connecting', () => {
  test('says that nobody answers, and where', async () => {
    await nats.kill()
    const connecting = connectBus({ servers: nats.url, name: 'late', connectTimeoutMs: 0 })
    await expect(connecting).rejects.toThrow(BusError)
    await expect(connecting).rejects.toThrow(nats.url)
    await nats.restart()
  })

  test('waits for a server that is about to start', async () => {
    await nats.kill()
    const connecting = connectBus({ servers: nats.url, name: 'early' })
    await nats.restart()
    const late = await connecting
    expect(late.isConnected()).toBe(true)
    await late.close()
  })

  test('a server with a token takes only those that have it', async () => {
    const server = await startNatsServer({ dataDir: `${nats.dataDir}/closed`, port: 0, token: 's3cret' })
    const stranger = connectBus({ servers: server.url, name: 'stranger' })
    await expect(stranger).rejects.toMatchObject({ code: 'NatsRefused' })
    const friend = await connectBus({ servers: server.url, name: 'friend', token: 's3cret' })
    expect(friend.isConnected()).toBe(true)
    await friend.close()
    await server.stop()
  })

  test('a server that cannot start says why', async () => {
    const start = startNatsServer({ dataDir: `${nats.dataDir}/bad`, port: 0, syncInterval: 'soon' })
    await expect(start).rejects.toThrow(/nats-server did not start.*sync_interval/s)
  })

  test('a server refuses a taken port, and one that a killed run left behind is replaced', async () => {
    const other = startNatsServer({ dataDir: `${nats.dataDir}/other`, port: nats.port })
    await expect(other).rejects.toMatchObject({ code: 'PortTaken' })
    // The same folder: what runs there is a leftover of ours.
    const successor = await startNatsServer({ dataDir: nats.dataDir, port: nats.port })
    await expect.poll(() => bus.isConnected()).toBe(true)
    await successor.stop()
  })
})

describe('a bucket', () => {
  test('is watched from what there is, through a kill of the server', async () => {
    const kv = await openKv<{ name: string }>(bus, { bucket: 'tenants' })
    await kv.put('team-a', { name: 'a' })
    await kv.put('team-b', { name: 'b' })
    const end = new AbortController()
    const events: string[] = []
    const watching = (async () => {
      for await (const event of kv.watch({ signal: end.signal }))
        events.push(event.type === 'ready' ? 'ready' : `${event.type} ${event.key}`)
    })()
    await expect.poll(() => events).toEqual(['put team-a', 'put team-b', 'ready'])
    await kv.delete('team-a')
    await expect.poll(() => events.at(-1)).toBe('delete team-a')
    await nats.kill()
    await nats.restart()
    await kv.put('team-c', { name: 'c' })
    await expect.poll(() => events.at(-1), { timeout: 10_000 }).toBe('put team-c')
    expect(events).toEqual(['put team-a', 'put team-b', 'ready', 'delete team-a', 'put team-c'])
    end.abort()
    await watching
  })

  test('tells as deleted what went while the watcher could not see', async () => {
    const kv = await openKv<number>(bus, { bucket: 'short', ttlMs: 1_000 })
    await kv.put('a', 1)
    const end = new AbortController()
    const events: string[] = []
    const watching = (async () => {
      for await (const event of kv.watch({ signal: end.signal })) events.push(event.type)
    })()
    await expect.poll(() => events).toEqual(['put', 'ready'])
    await nats.kill()
    await sleep(1_200)
    await nats.restart()
    await expect.poll(() => events, { timeout: 10_000 }).toEqual(['put', 'ready', 'delete'])
    end.abort()
    await watching
  })

  test('writes under a condition, and lists', async () => {
    const kv = await openKv<number>(bus, { bucket: 'numbers' })
    const first = await kv.create('one', 1)
    expect(first).toBeTypeOf('number')
    expect(await kv.create('one', 2)).toBeUndefined()
    const second = await kv.update('one', 11, first ?? 0)
    expect(await kv.update('one', 12, first ?? 0)).toBeUndefined()
    expect(await kv.get('one')).toEqual({ key: 'one', value: 11, revision: second })
    expect(await kv.list()).toEqual([{ key: 'one', value: 11, revision: second }])
    expect(await kv.delete('one', first)).toBe(false)
    expect(await kv.delete('one', second)).toBe(true)
    expect(await kv.get('one')).toBeUndefined()
    expect(await kv.create('one', 3)).toBeTypeOf('number')
  })
})
