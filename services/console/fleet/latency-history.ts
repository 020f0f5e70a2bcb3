import { type LatencyView, STAGE_NAMES, type SlowSync, type StageName } from '../views.ts'

/** What one sync took, by stage, in milliseconds. */
export type SyncTimes = Record<StageName, number>

/** One sync that was made. */
export type Sync = Omit<SlowSync, 'ms'> & { times: SyncTimes }

const MINUTE_MS = 60_000
const MINUTES = 60
const NOW_MINUTES = 5
const SLOWEST = 12
const SLOWEST_OF_MINUTE = 5
/** Tenants whose minutes are kept; those that were quiet longest go first. */
const TENANTS_KEPT = 20_000

/** Upper bounds of the buckets, in milliseconds: each a quarter more than the one before, from 0.25 ms to over an hour. */
const FIRST_BOUND = 0.25
const GROWTH = 1.25
const BUCKETS = 76

type Minute = { minute: number; buckets: Record<StageName, Uint32Array>; count: number; slowest: SlowSync[] }
type TenantMinutes = { last: number; minutes: Float64Array; counts: Uint32Array; sums: Float64Array }

/** Syncs of the last hour, folded: memory is bounded, whatever comes. Quantiles are right to an eighth. */
export class LatencyHistory {
  /** By minute modulo 60. */
  readonly #minutes: (Minute | undefined)[] = []
  readonly #tenants = new Map<string, TenantMinutes>()

  /** Takes one sync in. What is older than an hour is left out. */
  add(sync: Sync, now: number): void {
    const minute = Math.floor(sync.at / MINUTE_MS)
    if (minute <= Math.floor(now / MINUTE_MS) - MINUTES) return
    const { times, ...of } = sync
    const into = this.#minuteOf(minute)
    if (into === undefined) return
    into.count += 1
    for (const stage of STAGE_NAMES) {
      const buckets = into.buckets[stage]
      const index = bucketOf(times[stage])
      buckets[index] = (buckets[index] ?? 0) + 1
    }
    keepSlowest(into.slowest, { ...of, ms: times.total })
    this.#addToTenant(sync, minute)
  }

  view(now: number, isComplete: boolean): LatencyView {
    const last = Math.floor(now / MINUTE_MS)
    const minutes = Array.from({ length: MINUTES }, (_, index) => this.#at(last - MINUTES + 1 + index))
    const quantilesOf = (of: readonly (Minute | undefined)[]): LatencyView['now'] =>
      STAGE_NAMES.map((stage) => {
        const sum = merged(of.flatMap((each) => (each === undefined ? [] : [each.buckets[stage]])))
        const count = total(sum)
        return { stage, count, p50: quantile(sum, 0.5), p95: quantile(sum, 0.95), p99: quantile(sum, 0.99) }
      })
    return {
      now: quantilesOf(minutes.slice(-NOW_MINUTES)),
      hour: quantilesOf(minutes),
      from: (last - MINUTES + 1) * MINUTE_MS,
      p95: STAGE_NAMES.map((stage) => ({
        stage,
        minutes: minutes.map((each) => (each === undefined ? null : quantile(each.buckets[stage], 0.95))),
      })),
      counts: minutes.map((each) => each?.count ?? 0),
      slowest: minutes
        .flatMap((each) => each?.slowest ?? [])
        .toSorted((a, b) => b.ms - a.ms)
        .slice(0, SLOWEST),
      isComplete,
    }
  }

  /** A tenant's syncs in each of the last 60 minutes, and what they took on average. */
  tenant(
    name: string,
    now: number,
  ): { from: number; counts: number[]; meansMs: (number | null)[]; meanMs: number | null } {
    const first = Math.floor(now / MINUTE_MS) - MINUTES + 1
    const of = this.#tenants.get(name)
    const counts: number[] = []
    const meansMs: (number | null)[] = []
    let sum = 0
    let all = 0
    for (let minute = first; minute < first + MINUTES; minute += 1) {
      const slot = minute % MINUTES
      const isThere = of !== undefined && of.minutes[slot] === minute
      const count = isThere ? (of.counts[slot] ?? 0) : 0
      const took = isThere ? (of.sums[slot] ?? 0) : 0
      counts.push(count)
      meansMs.push(count === 0 ? null : took / count)
      sum += took
      all += count
    }
    return { from: first * MINUTE_MS, counts, meansMs, meanMs: all === 0 ? null : sum / all }
  }

  #at(minute: number): Minute | undefined {
    const there = this.#minutes[minute % MINUTES]
    return there?.minute === minute ? there : undefined
  }

  /** @returns `undefined` for a minute whose place a later one has taken */
  #minuteOf(minute: number): Minute | undefined {
    const slot = minute % MINUTES
    const there = this.#minutes[slot]
    if (there !== undefined && there.minute >= minute) return there.minute === minute ? there : undefined
    const buckets = Object.fromEntries(STAGE_NAMES.map((stage) => [stage, new Uint32Array(BUCKETS)]))
    const made: Minute = { minute, buckets: buckets as Minute['buckets'], count: 0, slowest: [] }
    this.#minutes[slot] = made
    return made
  }

  #addToTenant({ tenant, times }: Sync, minute: number): void {
    let of = this.#tenants.get(tenant)
    if (of === undefined) {
      if (this.#tenants.size >= TENANTS_KEPT) this.#forgetQuietest()
      of = {
        last: minute,
        minutes: new Float64Array(MINUTES),
        counts: new Uint32Array(MINUTES),
        sums: new Float64Array(MINUTES),
      }
      this.#tenants.set(tenant, of)
    }
    const slot = minute % MINUTES
    if (of.minutes[slot] !== minute) {
      of.minutes[slot] = minute
      of.counts[slot] = 0
      of.sums[slot] = 0
    }
    of.last = Math.max(of.last, minute)
    of.counts[slot] = (of.counts[slot] ?? 0) + 1
    of.sums[slot] = (of.sums[slot] ?? 0) + times.total
  }

  #forgetQuietest(): void {
    const byQuiet = [...this.#tenants].toSorted(([, a], [, b]) => a.last - b.last)
    for (const [name] of byQuiet.slice(0, TENANTS_KEPT / 10)) this.#tenants.delete(name)
  }
}

function keepSlowest(slowest: SlowSync[], sync: SlowSync): void {
  if (slowest.length >= SLOWEST_OF_MINUTE && sync.ms <= (slowest.at(-1)?.ms ?? 0)) return
  slowest.push(sync)
  slowest.sort((a, b) => b.ms - a.ms)
  slowest.length = Math.min(slowest.length, SLOWEST_OF_MINUTE)
}

function bucketOf(ms: number): number {
  if (!(ms > FIRST_BOUND)) return 0
  return Math.min(BUCKETS - 1, Math.ceil(Math.log(ms / FIRST_BOUND) / Math.log(GROWTH)))
}

function merged(all: readonly Uint32Array[]): Uint32Array {
  const sum = new Uint32Array(BUCKETS)
  for (const buckets of all) for (const [index, count] of buckets.entries()) sum[index] = (sum[index] ?? 0) + count
  return sum
}

function total(buckets: Uint32Array): number {
  let sum = 0
  for (const count of buckets) sum += count
  return sum
}

/** The middle of the bucket that the quantile falls into. */
function quantile(buckets: Uint32Array, share: number): number | null {
  const all = total(buckets)
  if (all === 0) return null
  let before = 0
  for (const [index, count] of buckets.entries()) {
    before += count
    if (before >= all * share)
      return rounded(index === 0 ? FIRST_BOUND / 2 : (FIRST_BOUND * GROWTH ** index) / Math.sqrt(GROWTH))
  }
  return null
}

function rounded(ms: number): number {
  return Number(ms.toPrecision(3))
}
