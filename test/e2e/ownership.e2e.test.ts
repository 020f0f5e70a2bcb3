import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { Cluster, Recording } from '../harness/cluster.ts'
import { type Fleet, type Member, type RoleName, startFleet } from '../harness/fleet.ts'
import { LeaseBoard } from '../harness/lease-board.ts'
import { configMapOf } from '../harness/objects.ts'

const ROLES = ['watcher', 'translator', 'writer'] as const
const LEASE_TTL_MS = 2_000
const PARTITIONS = 8
const TENANTS = ['t1', 't2', 't3', 't4', 't5', 't6']
/** Nothing but ConfigMaps, all of them. */
const config = {
  sync: {
    toHost: {
      configMaps: { all: true },
      pods: { enabled: false },
    },
  },
}

let fleet: Fleet
let boards: Record<RoleName, LeaseBoard>
let members: Record<RoleName, Member[]>
let tenants: { name: string; cluster: Cluster; copies: Recording }[]

beforeAll(async () => {
  fleet = await startFleet({ tenants: TENANTS, partitions: PARTITIONS, leaseTtlMs: LEASE_TTL_MS, config })
  const board = (role: RoleName): Promise<LeaseBoard> => LeaseBoard.open(fleet.bus, { role, ttlMs: LEASE_TTL_MS })
  boards = { watcher: await board('watcher'), translator: await board('translator'), writer: await board('writer') }
  members = { watcher: [], translator: [], writer: [] }
  await Promise.all(ROLES.flatMap((role) => [join(role), join(role)]))
  tenants = []
  for (const name of TENANTS) {
    const cluster = await fleet.tenant(name)
    await cluster.create(configMapOf('default', 'counter', { n: '0' }))
    tenants.push({ name, cluster, copies: await fleet.host.record('configmaps', fleet.hostNamespace(name)) })
  }
  for (const role of ROLES) await boards[role].until(isShared(role))
})
afterAll(async () => {
  for (const { copies } of tenants ?? []) await copies.stop()
  for (const board of Object.values(boards ?? {})) board.close()
  await fleet?.close()
})

let lastInstance = 0
async function join(role: RoleName): Promise<Member> {
  const member = await fleet.start(role, `${role}-${++lastInstance}`)
  members[role].push(member)
  return member
}

/** Whether the members of a role hold all partitions, each as many as the others give or take one. */
const isShared =
  (role: RoleName) =>
  (shares: Map<string, string[]>): boolean => {
    const counts = members[role].map(({ instance }) => shares.get(instance)?.length ?? 0)
    return (
      counts.reduce((sum, count) => sum + count, 0) === PARTITIONS && Math.max(...counts) - Math.min(...counts) <= 1
    )
  }

let stopCounting: (() => Promise<unknown>) | undefined
afterEach(() => stopCounting?.())

/** Counts up in every tenant until told to end, which resolves when the host shows the last counts. */
function countUp(): { end(): Promise<void> } {
  let isOver = false
  const counting = tenants.map(async ({ name, cluster }) => {
    const start = Number((await cluster.get('configmaps', counter))['data']?.['n' as never] ?? 0)
    let n = start
    while (!isOver) await cluster.patch('configmaps', counter, { data: { n: String(++n) } })
    const copy = { namespace: fleet.hostNamespace(name), name: `counter-x-default-x-${name}` }
    await fleet.host.until('configmaps', copy, (object) => countOf(object) === n, { timeoutMs: 60_000 })
  })
  stopCounting = () => {
    isOver = true
    return Promise.allSettled(counting)
  }
  return {
    end: async () => {
      isOver = true
      await Promise.all(counting)
    },
  }
}

const counter = { namespace: 'default', name: 'counter' }
const countOf = (object: object): number => Number((object as { data?: { n?: string } }).data?.n ?? -1)

/** Writes that took a counter back, as the host's API has told of them since the last time this was asked. */
function backwards(): string[] {
  return tenants.flatMap(({ name, copies }) => {
    const events = copies.events.splice(0)
    const counts = events.map(({ object }) => countOf(object)).filter((count) => count >= 0)
    return counts.flatMap((count, index) => {
      const before = counts[index - 1] ?? 0
      return count < before ? [`${name}: ${before} then ${count}`] : []
    })
  })
}

const tell = (line: string): void => void process.stderr.write(`${line}\n`)

describe.each(ROLES)('of two that share the work, one %s', (role) => {
  const other = (member: Member): Member => members[role].find((each) => each !== member) ?? member
  const first = (): Member => {
    const [member] = members[role]
    if (member === undefined) throw new Error(`no ${role} runs`)
    return member
  }
  const holdsAll = (member: Member) => (shares: Map<string, string[]>) =>
    (shares.get(member.instance)?.length ?? 0) === PARTITIONS

  test('that is killed is replaced as soon as its leases end, and nothing is lost or taken back', async () => {
    const counting = countUp()
    const member = first()
    const killedAt = Date.now()
    member.signal('SIGKILL')
    await boards[role].until(holdsAll(other(member)))
    const vacancies = boards[role].vacancies(member.instance, killedAt)
    const tookMs = Date.now() - killedAt
    tell(`${role} killed: all taken over after ${tookMs} ms, ${Math.max(...vacancies)} ms after its leases had ended`)
    members[role] = [other(member)]
    await join(role)
    await boards[role].until(isShared(role))
    await counting.end()
    expect(vacancies.length).toBeGreaterThan(0)
    expect(Math.max(...vacancies)).toBeLessThan(LEASE_TTL_MS)
    expect(backwards()).toEqual([])
  })

  test('that is told to stop hands its work over without waiting for its leases to end', async () => {
    const counting = countUp()
    const member = first()
    const toldAt = Date.now()
    member.signal('SIGTERM')
    await boards[role].until(holdsAll(other(member)))
    const vacancies = boards[role].vacancies(member.instance, toldAt)
    tell(
      `${role} told to stop: all taken over after ${Date.now() - toldAt} ms, nobody’s for ${Math.max(...vacancies)} ms`,
    )
    expect(await member.process.exited).toEqual({ code: 0, signal: null })
    members[role] = [other(member)]
    await join(role)
    await boards[role].until(isShared(role))
    await counting.end()
    expect(backwards()).toEqual([])
  })

  test('that is stopped and goes on later takes nothing back', async () => {
    const counting = countUp()
    const member = first()
    for (let round = 0; round < 2; round++) {
      member.signal('SIGSTOP')
      await boards[role].until(holdsAll(other(member)))
      member.signal('SIGCONT')
      await boards[role].until(isShared(role))
    }
    await counting.end()
    expect(backwards()).toEqual([])
  })
})
