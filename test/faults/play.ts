import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ApiRequest } from './api-request.ts'
import { audit, describeRequest } from './audit.ts'
import { type Bed, openBed } from './bed.ts'
import { Deeds } from './deeds.ts'
import { doWork } from './do-work.ts'
import { inject } from './inject.ts'
import { type ClusterState, type State, judge } from './oracle.ts'
import { type Plan, describeFault } from './plan.ts'
import { WORK_KINDS } from './workload.ts'
import type { Cluster } from '../harness/cluster.ts'
import type { ApiObject } from './api-request.ts'

export type PlayOptions = {
  plan: Plan
  folder: string
  separate: boolean
  rivals: boolean
  /** How long both sides may take to agree once nothing breaks any more. */
  convergeMs: number
  tell: (line: string) => void
}

export type Played = {
  /** Everything that is not as it must be; empty when all is well. */
  problems: string[]
  /** What came of it, in numbers. */
  figures: Record<string, number>
  /** Faults that could not be made here, and why. */
  leftOut: string[]
}

const LOOK_EVERY_MS = 500
const REST_MS = 1_500
const MAX_REPEATS = 6
/** Written at rest, too: heartbeats, and what is told again of an object that waits. */
const RECURRING = new Set(['leases.coordination.k8s.io', 'nodes', 'events'])

/** Plays a plan on a bed of its own, waits until both sides agree, and judges states and requests. */
export async function play(options: PlayOptions): Promise<Played> {
  const { plan, tell } = options
  const openedAt = Date.now()
  const bed = await openBed(options)
  try {
    const deeds = new Deeds()
    const startedAt = Date.now()
    const troubles = await runPlan(bed, { plan, deeds, startedAt, tell })
    const brokenUntil = Date.now()
    const { problems, tookMs } = await converge(bed, deeds, options.convergeMs)
    const restless = problems.length > 0 ? [] : await watchRest(bed)
    const faulty = audit({
      requests: bed.requests,
      deeds,
      tenants: plan.tenants,
      foreign: new Set(bed.foreign.keys()),
      maxRepeats: MAX_REPEATS,
    })
    const writes = bed.requests.filter(isWrite)
    const all = [...troubles, ...problems, ...restless, ...faulty]
    if (all.length > 0) keep(options.folder, { requests: bed.requests, deeds: [...deeds.byUid] })
    return {
      problems: all,
      figures: {
        faults: plan.faults.length,
        work: plan.work.length,
        writes: writes.length,
        made: deeds.byUid.size,
        openedMs: startedAt - openedAt,
        playedMs: brokenUntil - startedAt,
        convergedMs: tookMs,
      },
      leftOut: typeof bed.disk === 'string' && bed.disk !== 'not asked for' ? [`disk-full: ${bed.disk}`] : [],
    }
  } finally {
    await bed.close()
  }
}

/** Writes down what the judges had before them, one line each. */
function keep(folder: string, what: Record<string, readonly unknown[]>): void {
  for (const [name, lines] of Object.entries(what)) {
    writeFileSync(join(folder, `${name}.jsonl`), lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
  }
}

/** @returns what went wrong with the harness itself */
async function runPlan(
  bed: Bed,
  { plan, deeds, startedAt, tell }: { plan: Plan; deeds: Deeds; startedAt: number; tell: (line: string) => void },
): Promise<string[]> {
  const stop = new AbortController()
  const troubles: string[] = []
  const trouble =
    (what: string) =>
    (error: unknown): void =>
      void troubles.push(`harness: ${what}: ${String(error)}`)
  const working = plan.tenants.map((tenant) => {
    const cluster = bed.tenants[tenant]
    if (cluster === undefined) throw new Error(`no cluster ${tenant}`)
    const work = plan.work.filter((one) => one.tenant === tenant)
    return doWork({ cluster, work, deeds, startedAt, signal: stop.signal }).catch(trouble(`work of ${tenant}`))
  })
  const breaking = plan.faults.map(async (planned) => {
    await sleep(Math.max(0, startedAt + planned.at - Date.now()))
    tell(`${((Date.now() - startedAt) / 1_000).toFixed(1)} s: ${describeFault(planned)}`)
    await inject(bed, planned).catch(trouble(describeFault(planned)))
  })
  await Promise.all(breaking)
  await bed.keeper.running()
  await Promise.all(working)
  stop.abort()
  return troubles
}

async function converge(bed: Bed, deeds: Deeds, convergeMs: number): Promise<{ problems: string[]; tookMs: number }> {
  const startedAt = Date.now()
  for (;;) {
    const problems = await readState(bed, deeds).then(judge, (error: unknown) => [`not to be read: ${String(error)}`])
    const tookMs = Date.now() - startedAt
    if (problems.length === 0 || tookMs > convergeMs) return { problems, tookMs }
    await sleep(LOOK_EVERY_MS)
  }
}

async function readState(bed: Bed, deeds: Deeds): Promise<State> {
  const tenants: Record<string, ClusterState> = {}
  for (const [tenant, cluster] of Object.entries(bed.tenants)) tenants[tenant] = await readCluster(cluster)
  return { tenants, host: await readCluster(bed.host), foreign: bed.foreign, alive: deeds.alive() }
}

async function readCluster(cluster: Cluster): Promise<ClusterState> {
  const lists = await Promise.all(
    WORK_KINDS.map(async (kind) => [kind, (await cluster.list(kind)) as unknown as ApiObject[]] as const),
  )
  return Object.fromEntries(lists) as ClusterState
}

/** Both sides agree: nothing is left to be written. */
async function watchRest(bed: Bed): Promise<string[]> {
  const from = bed.requests.length
  await sleep(REST_MS)
  // The last writes may have been under way when both sides were compared.
  const settled = bed.requests.length
  await sleep(REST_MS)
  return (
    bed.requests
      .slice(Math.max(from, settled))
      .filter((request) => isWrite(request) && !RECURRING.has(request.target?.resource ?? ''))
      // Whether somebody else's object is still in the way is found out by trying.
      .filter(({ method, status }) => method !== 'POST' || status !== 409)
      .map((request) => `written at rest: ${describeRequest(request)}`)
  )
}

function isWrite({ method }: ApiRequest): boolean {
  return method !== 'GET' && method !== 'HEAD'
}
