import { readdirSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { STREAMS } from '#libs/events'
import { CausewayError, systemClock } from '#libs/kernel'
import { isNotFound } from '#libs/kube'
import { RESOURCES } from '#libs/kube-model'
import type { Field } from './field.ts'
import type { Installation } from './installation.ts'
import type { Progress } from './jobs.ts'
import { until } from './pod-watch.ts'
import { NAMESPACE, createPod, present } from './pods.ts'
import { type Pids, readResident } from './processes.ts'
import { slope } from './statistics.ts'
import { type Cell, table } from './table.ts'

export type SoakScale = {
  minutes: number
  /** Pods made in a second; as many go. */
  perSecond: number
  /** Pods of each tenant that are there at once. */
  alive: number
}

/** Of one process at one moment. */
type Sample = {
  atSeconds: number
  megabytes: Record<string, number>
  handles: Record<string, number>
  logBytes: number
}

export type SoakRun = {
  seconds: number
  pods: number
  samples: Sample[]
  /** How memory grows after the warm-up, in MB in ten minutes, by process. */
  growth: Record<string, number>
  /** How many more handles there are at the end than after the warm-up, by process. */
  handles: Record<string, number>
  /** How long after the last change all that is ours was at rest, seconds. */
  restSeconds: number
}

const SAMPLE_MS = 10_000
const TIMEOUT_MS = 120_000
/** Part of the run in which code is warmed up and buffers take their size. */
const WARM_UP = 0.4

/**
 * Pods come and go in every tenant at a steady pace, each with a ConfigMap that changes, for a long time: what a process
 * holds on to that it should let go shows as growth.
 */
export async function soak(
  installation: Installation,
  field: Field,
  { minutes, perSecond, alive, progress }: SoakScale & { progress: Progress },
): Promise<SoakRun> {
  const startedAt = systemClock.now()
  const elapsed = (): number => (systemClock.now() - startedAt) / 1_000
  const samples: Sample[] = []
  const failures: unknown[] = []
  const underWay = new Set<Promise<void>>()
  let pods = 0
  let sampledAt = Number.NEGATIVE_INFINITY
  while (elapsed() < minutes * 60) {
    const tenant = present(field.tenants[pods % field.tenants.length], 'a tenant')
    const round = Math.floor(pods / field.tenants.length)
    const turn = comeAndGo(tenant.client, { round, alive }).catch((error: unknown) => void failures.push(error))
    const done = turn.finally(() => underWay.delete(done))
    underWay.add(done)
    pods += 1
    if (failures.length > 0) throw failures[0]
    if (systemClock.now() - sampledAt >= SAMPLE_MS) {
      sampledAt = systemClock.now()
      samples.push(await sample(installation, elapsed()))
      if (samples.length % 6 === 0) progress(describe(samples.at(-1)))
    }
    await sleep(Math.max(0, startedAt + (pods * 1_000) / perSecond - systemClock.now()))
  }
  await Promise.all(underWay)
  const endedAt = systemClock.now()
  await field.clear()
  await until(() => field.host.pods.size === 0, { what: 'the end of all copies', timeoutMs: TIMEOUT_MS })
  const restSeconds = (systemClock.now() - endedAt) / 1_000
  const later = samples.slice(Math.floor(samples.length * WARM_UP))
  const names = Object.keys(installation.pids)
  const per = (of: (name: string) => number): Record<string, number> =>
    Object.fromEntries(names.map((name) => [name, of(name)]))
  return {
    seconds: elapsed(),
    pods,
    samples,
    growth: per((name) => 600 * slope(later.map(({ atSeconds, megabytes }) => [atSeconds, megabytes[name] ?? 0]))),
    handles: per((name) => (later.at(-1)?.handles[name] ?? 0) - (later[0]?.handles[name] ?? 0)),
    restSeconds,
  }
}

/** Makes one pod with its ConfigMap, changes the one before, and takes away the oldest. */
async function comeAndGo(
  client: Field['tenants'][number]['client'],
  { round, alive }: { round: number; alive: number },
): Promise<void> {
  const name = (index: number): string => `soak-${index}`
  const target = (index: number) => ({ namespace: NAMESPACE, name: name(index) })
  const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: target(round), data: { round: String(round) } }
  await client.create(RESOURCES.configmaps, target(round), body)
  await createPod(client, NAMESPACE, name(round), [name(round)])
  const gone = round - alive
  const changed = round - Math.ceil(alive / 2)
  if (changed >= 0) {
    await ignoringAbsence(
      client.patch(RESOURCES.configmaps, target(changed), { data: { changed: String(round) } }, { type: 'merge' }),
    )
  }
  if (gone < 0) return
  for (const resource of [RESOURCES.pods, RESOURCES.configmaps]) {
    await ignoringAbsence(
      client.get(resource, target(gone)).then(async ({ metadata: { uid = '' } }) => {
        await client.delete(resource, target(gone), { uid, gracePeriodSeconds: 0 })
      }),
    )
  }
}

async function ignoringAbsence(call: Promise<unknown>): Promise<void> {
  try {
    await call
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
}

async function sample(installation: Installation, atSeconds: number): Promise<Sample> {
  const { bus, pids } = installation
  const streams = await Promise.all(Object.values(STREAMS).map((name) => bus.manager.streams.info(name)))
  const full = streams.find(({ config, state }) => config.max_bytes > 0 && state.bytes > config.max_bytes)
  if (full !== undefined) {
    throw new CausewayError(`stream ${full.config.name} holds more than its limit`, { code: 'BenchFailed' })
  }
  return {
    atSeconds,
    megabytes: readResident(pids),
    handles: readHandles(pids),
    logBytes: streams.reduce((sum, { state }) => sum + state.bytes, 0),
  }
}

/** Open files and sockets by process. */
function readHandles(pids: Pids): Record<string, number> {
  const entries = Object.entries(pids).flatMap(([name, pid]) => {
    try {
      return [[name, readdirSync(`/proc/${pid}/fd`).length] as const]
    } catch {
      return []
    }
  })
  return Object.fromEntries(entries)
}

function describe(latest: Sample | undefined): string {
  if (latest === undefined) return ''
  const memory = Object.entries(latest.megabytes).map(([name, megabytes]) => `${name} ${megabytes.toFixed(0)} MB`)
  return `${(latest.atSeconds / 60).toFixed(0)} min: ${memory.join(', ')}; log ${(latest.logBytes / 1e6).toFixed(0)} MB`
}

/** As a table for people. */
export function reportSoak(run: SoakRun): string {
  const { samples } = run
  const first = samples[Math.floor(samples.length * WARM_UP)]
  const last = samples.at(-1)
  const rows = Object.keys(run.growth).map((name): Cell[] => [
    name,
    first?.megabytes[name],
    last?.megabytes[name],
    run.growth[name],
    run.handles[name],
  ])
  return [
    `${run.pods} pods in ${(run.seconds / 60).toFixed(1)} minutes; at rest ${run.restSeconds.toFixed(1)} s after the last change`,
    '',
    table(['process', 'MB after warm-up', 'MB at the end', 'MB more in 10 minutes', 'more handles'], rows),
  ].join('\n')
}
