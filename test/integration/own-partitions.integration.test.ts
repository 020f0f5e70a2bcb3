import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { type Bus, connectBus } from '#libs/bus'
import { type TestNats, startTestNats } from '#libs/bus/testing'
import { systemClock } from '#libs/kernel'
import { type OwnedPartition, type PartitionOwner, openTroubles, ownPartitions } from '#libs/runtime'
import { createLogger } from '#libs/telemetry'

const logger = createLogger({ service: 'test', level: process.env['TEST_LOG'] ?? 'silent' })
const TTL_MS = 2_000
const PARTITIONS = 6

let nats: TestNats
let members: { bus: Bus; owner: PartitionOwner }[]
let roles = 0
let role: string

beforeAll(async () => {
  nats = await startTestNats()
})

afterAll(() => nats.stop())

afterEach(async () => {
  for (const { owner, bus } of members.splice(0)) {
    await owner.close()
    await bus.close()
  }
})

members = []

/** Every stretch of work on a partition, with its end once it has one. */
type Stretch = { partition: number; instance: string; fence: number; from: number; to?: number }

async function join(
  instance: string,
  options: { stretches?: Stretch[]; work?: (owned: OwnedPartition) => Promise<void> } = {},
): Promise<{ bus: Bus; owner: PartitionOwner }> {
  const bus = await connectBus({ servers: nats.url, name: instance })
  const work = async (owned: OwnedPartition): Promise<void> => {
    const stretch: Stretch = { partition: owned.partition, instance, fence: owned.fence, from: systemClock.now() }
    options.stretches?.push(stretch)
    if (options.work !== undefined) return options.work(owned)
    await new Promise((resolve) => owned.signal.addEventListener('abort', resolve, { once: true }))
    stretch.to = systemClock.now()
  }
  const owner = await ownPartitions({
    bus,
    config: { partitions: PARTITIONS, instance, leaseTtlMs: TTL_MS, replicas: 1 },
    role,
    logger,
    clock: systemClock,
    random: Math.random,
    work,
  })
  owner.done.catch(() => undefined)
  const member = { bus, owner }
  members.push(member)
  return member
}

function nextRole(): void {
  role = `role-${++roles}`
}

const owned = (): number[][] => members.map(({ owner }) => owner.owned().toSorted((a, b) => a - b))

/** Whether no partition was ever worked on by two at once. */
function expectNoOverlap(stretches: Stretch[]): void {
  for (const a of stretches) {
    for (const b of stretches) {
      if (a === b || a.partition !== b.partition || a.from > b.from) continue
      expect(a.to ?? Number.POSITIVE_INFINITY).toBeLessThanOrEqual(b.from)
      expect(a.fence).toBeLessThan(b.fence)
    }
  }
}

test('one member takes all partitions, and is ready when it has', async () => {
  nextRole()
  const { owner } = await join('a')
  expect(owner.notReady()).not.toEqual([])
  await expect.poll(() => owner.notReady()).toEqual([])
  expect(owned()).toEqual([[0, 1, 2, 3, 4, 5]])
})

test('a second member gets its share, worked on by one at a time; the first gets it back when it leaves', async () => {
  nextRole()
  const stretches: Stretch[] = []
  await join('a', { stretches })
  await expect.poll(owned).toEqual([[0, 1, 2, 3, 4, 5]])
  const second = await join('b', { stretches })
  await expect.poll(() => owned().map((list) => list.length)).toEqual([3, 3])
  const leftAt = systemClock.now()
  await second.owner.close()
  await expect.poll(() => members[0]?.owner.owned().length).toBe(6)
  expect(systemClock.now() - leftAt).toBeLessThan(TTL_MS)
  expectNoOverlap(stretches)
})

test('what a member held that vanished is taken over within the life of a lease', async () => {
  nextRole()
  const stretches: Stretch[] = []
  await join('a', { stretches })
  const second = await join('b', { stretches })
  await expect.poll(() => owned().map((list) => list.length)).toEqual([3, 3])
  const vanishedAt = systemClock.now()
  await second.bus.close()
  await expect.poll(() => members[0]?.owner.owned().length, { timeout: 2 * TTL_MS + 2_000 }).toBe(6)
  expect(systemClock.now() - vanishedAt).toBeLessThan(TTL_MS + 1_500)
  expectNoOverlap(stretches)
  members.splice(1)
})

test('work that fails is begun again under the same lease, and others can see why it did', async () => {
  nextRole()
  const fences = new Map<number, number[]>()
  const { bus } = await join('a', {
    work: async ({ partition, fence, signal }) => {
      const list = [...(fences.get(partition) ?? []), fence]
      fences.set(partition, list)
      if (list.length === 1) throw new Error('once')
      await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
    },
  })
  await expect.poll(() => [...fences.values()].map((list) => list.length)).toEqual([2, 2, 2, 2, 2, 2])
  for (const [first, second] of fences.values()) expect(first).toBe(second)
  const told = async () => (await (await openTroubles(bus, 1)).get(`${role}.0`))?.value
  await expect.poll(told).toMatchObject({ owner: 'a', message: 'once', at: expect.any(Number) })
})

test('after NATS was gone for longer than a lease lasts, all partitions are taken again', async () => {
  nextRole()
  const stretches: Stretch[] = []
  const { owner } = await join('a', { stretches })
  await expect.poll(() => owner.owned().length).toBe(6)
  await nats.kill()
  await expect.poll(() => owner.owned().length, { timeout: 2 * TTL_MS }).toBe(0)
  await nats.restart()
  await expect.poll(() => owner.owned().length, { timeout: 20_000 }).toBe(6)
  expect(owner.notReady()).toEqual([])
  expectNoOverlap(stretches)
})
