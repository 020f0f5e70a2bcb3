import { nuid } from '@nats-io/nats-core'
import type { Bus } from './connection.ts'
import { type Kv, openKv } from './kv.ts'
import { HeldLease, type Lease, type LeaseValue, instantNow } from './lease.ts'

export type LeasesOptions = {
  /** Who acquires; unique among the processes of an installation. */
  owner: string
  /** How long a lease and a membership last without renewal, in milliseconds. @default 10000 */
  ttlMs?: number
  /** @default leases */
  bucket?: string
  replicas?: number
}

/** Makes a member known until it leaves or its process ends. */
export type Membership = { leave(): Promise<void> }

/**
 * Leases and memberships: who works on what, and who is there to work. Both go by themselves when their process does
 * not renew them.
 */
export type Leases = {
  readonly owner: string
  readonly ttlMs: number
  /** Takes a lease if nobody has it; undefined when somebody does. `info` can be read by others. */
  acquire(key: string, info?: unknown): Promise<Lease | undefined>
  /** Who holds what, at once and after every change of hands, until the signal. Filter as for keys: `a.*`, `a.>`. */
  watchHolders(options?: { filter?: string; signal?: AbortSignal }): AsyncIterable<ReadonlyMap<string, LeaseValue>>
  /** Says that this owner is there to work for a group. */
  announce(group: string, info?: unknown): Promise<Membership>
  /** Who is there, sorted, at once and after every coming and going, until the signal. */
  watchMembers(group: string, options?: { signal?: AbortSignal }): AsyncIterable<readonly string[]>
}

export async function openLeases(bus: Bus, options: LeasesOptions): Promise<Leases> {
  const { owner, ttlMs = 10_000, bucket = 'leases', replicas = 1 } = options
  const kv = await openKv<LeaseValue>(bus, { bucket, ttlMs, replicas, description: 'who works on what' })
  return {
    owner,
    ttlMs,
    acquire: async (key, info) => {
      const storedKey = `lease.${key}`
      const value = leaseValue(owner, info)
      const acquiredAt = instantNow()
      const revision = await kv.create(storedKey, value)
      return revision === undefined
        ? undefined
        : new HeldLease({ kv, key, storedKey, value, ttlMs, revision, acquiredAt })
    },
    watchHolders: (watch) => watchHolders(kv, watch ?? {}),
    announce: (group, info) => announce({ kv, ttlMs, owner }, group, info),
    watchMembers: (group, watch) => watchMembers(kv, group, watch?.signal),
  }
}

function leaseValue(owner: string, info: unknown): LeaseValue {
  return { owner, holding: nuid.next(), ...(info === undefined ? {} : { info }) }
}

async function* watchHolders(
  kv: Kv<LeaseValue>,
  options: { filter?: string; signal?: AbortSignal },
): AsyncGenerator<ReadonlyMap<string, LeaseValue>, void, void> {
  const { filter = '>', signal } = options
  const holders = new Map<string, LeaseValue>()
  let isReady = false
  for await (const event of kv.watch({ filter: `lease.${filter}`, ...(signal === undefined ? {} : { signal }) })) {
    let isChange = true
    if (event.type === 'ready') isReady = true
    else {
      const key = event.key.slice('lease.'.length)
      if (event.type === 'delete') isChange = holders.delete(key)
      else {
        // A renewal writes the same again.
        isChange = holders.get(key)?.holding !== event.value.holding
        holders.set(key, event.value)
      }
    }
    if (isReady && isChange) yield new Map(holders)
  }
}

async function announce(
  parts: { kv: Kv<LeaseValue>; ttlMs: number; owner: string },
  group: string,
  info: unknown,
): Promise<Membership> {
  const { kv, ttlMs, owner } = parts
  const key = `member.${group}.${owner}`
  const value = leaseValue(owner, info)
  await kv.put(key, value)
  let writing: Promise<unknown> | undefined
  const renewal = setInterval(() => {
    // One that fails is made good by the next: the membership lasts for three.
    writing ??= kv
      .put(key, value)
      .catch(() => undefined)
      .finally(() => {
        writing = undefined
      })
  }, ttlMs / 3)
  return {
    leave: async () => {
      clearInterval(renewal)
      await writing
      await kv.delete(key)
    },
  }
}

async function* watchMembers(
  kv: Kv<LeaseValue>,
  group: string,
  signal: AbortSignal | undefined,
): AsyncGenerator<readonly string[], void, void> {
  const prefix = `member.${group}.`
  const members = new Set<string>()
  let isReady = false
  for await (const event of kv.watch({ filter: `${prefix}>`, ...(signal === undefined ? {} : { signal }) })) {
    const before = members.size
    if (event.type === 'ready') {
      isReady = true
      yield [...members].toSorted()
      continue
    }
    const member = event.key.slice(prefix.length)
    if (event.type === 'put') members.add(member)
    else members.delete(member)
    if (isReady && members.size !== before) yield [...members].toSorted()
  }
}
