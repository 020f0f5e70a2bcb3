import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Bus, type Leases, connectBus, openLeases, openPositions } from '#libs/bus'
import { type TestNats, startTestNats } from '#libs/bus/testing'

const ttlMs = 1_500
let nats: TestNats
let buses: Bus[]

beforeEach(async () => {
  nats = await startTestNats()
  buses = []
})

afterEach(async () => {
  for (const bus of buses) await bus.close()
  await nats.stop()
})

async function connect(name: string): Promise<Bus> {
  const bus = await connectBus({ servers: nats.url, name })
  buses.push(bus)
  return bus
}

async function leasesOf(owner: string): Promise<Leases & { bus: Bus }> {
  const bus = await connect(owner)
  return { ...(await openLeases(bus, { owner, ttlMs })), bus }
}

describe('a lease', () => {
  test('has one holder, who keeps it past its time by renewing', async () => {
    const [a, b] = [await leasesOf('a'), await leasesOf('b')]
    const lease = await a.acquire('partition.3')
    const until = performance.now() + 2 * ttlMs
    while (performance.now() < until) {
      expect(await b.acquire('partition.3')).toBeUndefined()
      expect(lease?.isHeld()).toBe(true)
    }
    await lease?.release()
  })

  test('can be taken at once after a release, under a newer fence', async () => {
    const [a, b] = [await leasesOf('a'), await leasesOf('b')]
    const first = await a.acquire('partition.3')
    await first?.release()
    expect(first?.signal.aborted).toBe(true)
    const second = await b.acquire('partition.3')
    expect(second?.fence).toBeGreaterThan(first?.fence ?? Number.POSITIVE_INFINITY)
    await second?.release()
  })

  test('of a holder that is cut off ends there first, and only then goes to another', async () => {
    const [a, b] = [await leasesOf('a'), await leasesOf('b')]
    const first = await a.acquire('partition.3')
    let lostAt = 0
    first?.signal.addEventListener('abort', () => {
      lostAt = performance.now()
    })
    await a.bus.nats.close()
    let second = await b.acquire('partition.3')
    while (second === undefined) {
      await new Promise((resolve) => setTimeout(resolve, 20))
      second = await b.acquire('partition.3')
    }
    const takenAt = performance.now()
    expect(first?.isHeld()).toBe(false)
    expect(lostAt).toBeGreaterThan(0)
    expect(lostAt).toBeLessThan(takenAt)
    expect(second.fence).toBeGreaterThan(first?.fence ?? Number.POSITIVE_INFINITY)
    await second.release()
  })

  test('is known to be lost by a process that was stopped, before any timer has run', async () => {
    const a = await leasesOf('a')
    const lease = await a.acquire('partition.3')
    // Nothing else runs meanwhile, as in a process that is stopped.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ttlMs + 100)
    expect(lease?.isHeld()).toBe(false)
    expect(lease?.signal.aborted).toBe(true)
  })

  test('outlives a kill and quick restart of the server', async () => {
    const bus = await connect('a')
    const leases = await openLeases(bus, { owner: 'a', ttlMs: 3_000 })
    const lease = await leases.acquire('partition.3')
    await nats.kill()
    await nats.restart()
    const until = performance.now() + 4_000
    await expect.poll(() => performance.now() > until, { timeout: 10_000, interval: 200 }).toBe(true)
    expect(lease?.isHeld()).toBe(true)
    await lease?.release()
  })
})

test('holders and members can be watched: they appear, and go by themselves with their process', async () => {
  const [a, b] = [await leasesOf('a'), await leasesOf('b')]
  const end = new AbortController()
  let members: readonly string[] = []
  let holders: (string | undefined)[] = []
  const watching = Promise.all([
    (async () => {
      for await (const now of b.watchMembers('writer', { signal: end.signal })) members = now
    })(),
    (async () => {
      const options = { filter: 'writer.*', signal: end.signal }
      for await (const now of b.watchHolders(options))
        holders = [...now].map(([key, { owner, info }]) => `${key} ${owner} ${JSON.stringify(info)}`)
    })(),
  ])
  const own = await b.announce('writer')
  await a.announce('writer')
  await a.acquire('writer.3', { since: 1 })
  await expect.poll(() => members).toEqual(['a', 'b'])
  await expect.poll(() => holders).toEqual(['writer.3 a {"since":1}'])
  await a.bus.nats.close()
  await expect.poll(() => members, { timeout: 3 * ttlMs }).toEqual(['b'])
  await expect.poll(() => holders, { timeout: 3 * ttlMs }).toEqual([])
  await own.leave()
  await expect.poll(() => members).toEqual([])
  end.abort()
  await watching
})

describe('a position', () => {
  test('moves on under one fence and passes to the next', async () => {
    const [a, b] = [await openPositions<number>(await connect('a')), await openPositions<number>(await connect('b'))]
    expect(await a.get('translator.3')).toBeUndefined()
    await a.store('translator.3', { fence: 5, value: 10 })
    await a.store('translator.3', { fence: 5, value: 20 })
    expect(await b.get('translator.3')).toEqual({ fence: 5, value: 20 })
    await b.store('translator.3', { fence: 9, value: 21 })
    await expect(a.store('translator.3', { fence: 5, value: 30 })).rejects.toMatchObject({ code: 'Fenced' })
    expect(await a.get('translator.3')).toEqual({ fence: 9, value: 21 })
  })

  test('that was claimed is closed to the owner before, and can be claimed before there is any', async () => {
    const [a, b] = [await openPositions<string>(await connect('a')), await openPositions<string>(await connect('b'))]
    expect(await a.claim('watcher.team-a.pods', 1)).toBeUndefined()
    await a.store('watcher.team-a.pods', { fence: 1, value: '4711' })
    expect(await b.claim('watcher.team-a.pods', 2)).toEqual({ fence: 1, value: '4711' })
    await expect(a.store('watcher.team-a.pods', { fence: 1, value: '4712' })).rejects.toMatchObject({ code: 'Fenced' })
    await expect(a.claim('watcher.team-a.pods', 1)).rejects.toMatchObject({ code: 'Fenced' })
    expect(await b.get('watcher.team-a.pods')).toEqual({ fence: 2, value: '4711' })
  })
})
