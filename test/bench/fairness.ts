import type { Installation } from './installation.ts'
import { until } from './pod-watch.ts'
import { createPod, inParallel, present } from './pods.ts'
import { type Place, oneByOne, patchStatus, requireNeighbours, tellStatus, untilRuns } from './regular.ts'
import { type Percentiles, median, percentiles } from './statistics.ts'
import { table } from './table.ts'

export type FairnessScale = {
  /** Pods that each greedy tenant makes at once. One tenant of five is greedy. */
  greedyPods: number
  /** Pods that each regular tenant makes one after another, and status changes that it gets. */
  regularPods: number
}

/** Times in ms: `mean` and percentiles. */
type Times = Percentiles & { mean: number }
type Side = { alone: Times; beside: Times }

/** What regular tenants wait for, alone and beside greedy ones, in both directions. */
export type FairnessRun = {
  /** From a tenant's create to its pod running. */
  create: Side & { greedy: Times }
  /** From a status change on the host to its being seen in the tenant. */
  status: Side
}

const TIMEOUT_MS = 600_000

/**
 * As in VirtualCluster's paper: greedy tenants make many pods at once, regular ones make a few one after another; then
 * the statuses of all the greedy ones' copies change at once, over and over, while those of the regular ones change one
 * after another.
 */
export async function fairness(
  { host }: Pick<Installation, 'host'>,
  places: readonly Place[],
  { greedyPods, regularPods }: FairnessScale,
): Promise<FairnessRun> {
  requireNeighbours(places)
  const greedy = places.slice(0, Math.max(1, Math.round(places.length / 5)))
  const regular = places.slice(greedy.length)
  const alone = timesOf(await oneByOne(regular, regularPods, 'alone'))
  const made: number[] = []
  const burst = Promise.all(greedy.map((place) => makeAtOnce(place, greedyPods, made)))
  await until(() => greedy.every((place) => place.pods.pods.has(greedyName(place, 0))), {
    what: 'the burst',
    timeoutMs: TIMEOUT_MS,
  })
  const beside = timesOf(await oneByOne(regular, regularPods, 'beside'))
  await burst
  const create = { alone, beside, greedy: timesOf(made) }

  const statusAlone = timesOf(await tellAll(host, regular, regularPods))
  let isOver = false
  const storm = greedy.map(async (place) => {
    const pods = Array.from({ length: greedyPods }, (_, index) => greedyName(place, index))
    for (let round = 0; !isOver; round++) {
      await inParallel(pods, async (pod) => {
        if (!isOver) await patchStatus(host, place.copyOf(pod), `round ${round}`)
      })
    }
  })
  const statusBeside = timesOf(await tellAll(host, regular, regularPods))
  isOver = true
  await Promise.all(storm)
  return { create, status: { alone: statusAlone, beside: statusBeside } }
}

function greedyName(place: Place, index: number): string {
  return `greedy-${place.name}-${index}`
}

/** @param took gets the ms until each pod ran */
async function makeAtOnce(place: Place, count: number, took: number[]): Promise<void> {
  const names = Array.from({ length: count }, (_, index) => greedyName(place, index))
  const sent = new Map<string, number>()
  await inParallel(names, async (name) => {
    sent.set(name, (await createPod(place.client, place.namespace, name)).sentAt)
  })
  await until(() => names.every((name) => place.pods.pods.get(name)?.runningAt !== undefined), {
    what: `the pods of ${place.name}`,
    timeoutMs: TIMEOUT_MS,
  })
  for (const name of names) {
    took.push(present(place.pods.pods.get(name)?.runningAt, name) - present(sent.get(name), name))
  }
}

async function tellAll(host: Installation['host'], regular: readonly Place[], times: number): Promise<number[]> {
  const took = await Promise.all(
    regular.map(async (place) => {
      const name = `beside-${place.name}-0`
      await untilRuns(place, name)
      const each: number[] = []
      for (let time = 0; time < times; time++) each.push(await tellStatus(host, place, name))
      return each
    }),
  )
  return took.flat()
}

function timesOf(values: readonly number[]): Times {
  const mean = values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length)
  return { ...percentiles(values), mean }
}

export function reportFairness(runs: readonly FairnessRun[]): string {
  const row = (name: string, list: readonly Times[]): (string | number)[] => [
    name,
    ...(['mean', 'p50', 'p99', 'max'] as const).map((point) => median(list.map((times) => times[point]))),
  ]
  const ratio = (name: string, sides: readonly Side[]): (string | number | undefined)[] => [
    name,
    ...(['mean', 'p50', 'p99', 'max'] as const).map((point) =>
      median(sides.map(({ alone, beside }) => beside[point] / alone[point])),
    ),
  ]
  const creates = runs.map(({ create }) => create)
  const statuses = runs.map(({ status }) => status)
  const times = table(
    ['ms', 'mean', 'p50', 'p99', 'max'],
    [
      row(
        'regular, alone: create until running',
        creates.map(({ alone }) => alone),
      ),
      row(
        'regular, beside the greedy',
        creates.map(({ beside }) => beside),
      ),
      row(
        'greedy',
        creates.map(({ greedy }) => greedy),
      ),
      row(
        'regular, alone: status on the host until seen',
        statuses.map(({ alone }) => alone),
      ),
      row(
        'regular, beside a storm',
        statuses.map(({ beside }) => beside),
      ),
    ],
  )
  const ratios = table(
    ['beside over alone', 'mean', 'p50', 'p99', 'max'],
    [ratio('create until running', creates), ratio('status until seen', statuses)],
  )
  return `${times}\n\n${ratios}`
}
