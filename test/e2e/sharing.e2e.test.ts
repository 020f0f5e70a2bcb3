import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Fleet, type Member, startFleet } from '../harness/fleet.ts'
import { LeaseBoard } from '../harness/lease-board.ts'
import { configMapOf } from '../harness/objects.ts'

const PARTITIONS = 32
const LEASE_TTL_MS = 5_000
const TENANTS = Array.from({ length: 100 }, (_, index) => `t${index + 1}`)
/** Tenants that are asked whether they are served. */
const ASKED = ['t1', 't34', 't67', 't100']
const config = { sync: { toHost: { configMaps: { all: true }, pods: { enabled: false } } } }

let fleet: Fleet
beforeAll(async () => {
  fleet = await startFleet({ tenants: TENANTS, partitions: PARTITIONS, leaseTtlMs: LEASE_TTL_MS, config })
  await fleet.start('watcher', 'watcher-1')
})
afterAll(() => fleet?.close())

describe.each(['translator', 'writer'] as const)('two %ss', (role) => {
  test('share a hundred tenants; a third takes its share, and nobody is served less', async () => {
    const other = role === 'translator' ? 'writer' : 'translator'
    const alone = await fleet.start(other, `${other}-beside-${role}`)
    const board = await LeaseBoard.open(fleet.bus, { role, ttlMs: LEASE_TTL_MS })
    const members: Member[] = []
    const join = async (): Promise<void> => {
      members.push(await fleet.start(role, `${role}-${members.length + 1}`))
    }
    /** All partitions are held, by every member as many as its fair share give or take one. */
    const isFair = (shares: Map<string, string[]>): boolean => {
      const counts = members.map(({ instance }) => shares.get(instance)?.length ?? 0)
      const share = PARTITIONS / members.length
      const isHeld = counts.reduce((sum, count) => sum + count, 0) === PARTITIONS
      return isHeld && counts.every((count) => Math.abs(count - share) <= 1)
    }
    await join()
    await join()
    await board.until(isFair)
    await expectServed(`by-two-${role}s`)
    await join()
    const joinedAt = Date.now()
    await board.until(isFair)
    process.stderr.write(
      `a third ${role} had its share of ${PARTITIONS} partitions ${Date.now() - joinedAt} ms after its start\n`,
    )
    await expectServed(`by-three-${role}s`)
    board.close()
    for (const member of [...members, alone]) expect((await member.process.end('SIGTERM')).code).toBe(0)
  })
})

async function expectServed(name: string): Promise<void> {
  for (const tenant of ASKED) {
    const cluster = await fleet.tenant(tenant)
    await cluster.create(configMapOf('default', name, { of: tenant }))
    const copy = { namespace: fleet.hostNamespace(tenant), name: `${name}-x-default-x-${tenant}` }
    await fleet.host.until('configmaps', copy, () => true, { timeoutMs: 60_000 })
  }
}
