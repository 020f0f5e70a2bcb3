import { drawBars } from './bar-chart.ts'
import type { FairnessRun } from './fairness.ts'
import type { FleetRun } from './fleet.ts'
import { STAGE_NAMES, type StageName } from './outcomes.ts'
import type { Usage } from './processes.ts'
import type { RestartRun } from './restart.ts'
import { type Percentiles, median } from './statistics.ts'

/** Results by the name of the job, as they are stored; those of a job that failed are missing. */
export type Results = Readonly<Record<string, { result?: object }>>

/** Runs as they are stored. */
type Run = { usage: Record<string, Usage>; stages: Record<string, Record<StageName, Percentiles>> }
type Paired<T> = { pods: number; baseline: (Run & T)[]; product: (Run & T)[] }
type Trickle = Paired<{ create: Percentiles; status: Percentiles }>
type Churn = Paired<{ latency: Percentiles }>
type Burst = Paired<{ seconds: number }>

/** Charts as SVG by file name; one whose scenarios did not run is missing. */
export function chartsOf(results: Results): Map<string, string> {
  const charts = [
    ['latency.svg', latency],
    ['stages.svg', stages],
    ['burst.svg', burst],
    ['cpu.svg', cpu],
    ['fairness.svg', fairness],
    ['restart.svg', restart],
    ['fleet.svg', fleet],
  ] as const
  return new Map(
    charts.flatMap(([name, draw]) => {
      const chart = draw(results)
      return chart === undefined ? [] : [[name, chart] as const]
    }),
  )
}

type Draw = (results: Results) => string | undefined

const latency: Draw = (results) => {
  const trickle = resultOf<Trickle>(results, 'trickle')
  const churn = resultOf<Churn>(results, 'churn')
  const row = <T>(label: string, runs: Paired<T> | undefined, pick: (run: T) => Percentiles) => {
    if (runs === undefined) return []
    const at = (list: readonly T[], point: 'p50' | 'p99'): number => median(list.map((run) => pick(run)[point]))
    const { baseline, product } = runs
    return [{ label, values: [at(baseline, 'p50'), at(product, 'p50'), at(baseline, 'p99'), at(product, 'p99')] }]
  }
  const rows = [
    ...row('pod in the tenant → on the host', trickle, ({ create }) => create),
    ...row('status on the host → in the tenant', trickle, ({ status }) => status),
    ...row('ConfigMap changed → on the host', churn, (run) => run.latency),
  ]
  if (rows.length === 0) return undefined
  const series = ['straight on the host, p50', 'Causeway, p50', 'straight, p99', 'Causeway, p99']
  return drawBars({ title: 'Latency in a trickle', unit: 'ms', series, rows })
}

const stages: Draw = (results) => {
  const product = resultOf<Trickle>(results, 'trickle')?.product
  if (product === undefined) return undefined
  const series = STAGE_NAMES.filter((name) => name !== 'own')
  const rows = ['create on the host', 'binding', 'status'].map((write) => ({
    label: write,
    values: series.map((stage) => median(product.map((run) => run.stages[write]?.[stage].p50 ?? 0))),
  }))
  return drawBars({
    title: 'Where the time of a write goes in a trickle',
    unit: 'ms, p50',
    series,
    rows,
    stacked: true,
  })
}

const burst: Draw = (results) => {
  const rows = burstsOf(results).map(([label, { baseline, product }]) => ({
    label,
    values: [baseline, product].map((runs) => median(runs.map(({ seconds }) => seconds))),
  }))
  if (rows.length === 0) return undefined
  return drawBars({ title: 'Bursts until all pods run', unit: 's', series: ['straight on the host', 'Causeway'], rows })
}

const cpu: Draw = (results) => {
  const trickle = resultOf<Trickle>(results, 'trickle')
  const all = [...(trickle === undefined ? [] : [['trickle', trickle] as const]), ...burstsOf(results)]
  const series = [...new Set(all.flatMap(([, { product }]) => Object.keys(product[0]?.usage ?? {})))]
  const row = (label: string, runs: readonly Run[], pods: number) => ({
    label,
    values: series.map((name) => (median(runs.map(({ usage }) => usage[name]?.cpuSeconds ?? 0)) * 1_000) / pods),
  })
  const rows = all.flatMap(([name, { baseline, product, pods }]) => [
    row(`${name}, straight on the host`, baseline, pods),
    row(`${name}, Causeway`, product, pods),
  ])
  if (rows.length === 0) return undefined
  return drawBars({ title: 'CPU of a pod until it runs', unit: 'ms', series, rows, stacked: true })
}

const fairness: Draw = (results) => {
  const pairs = resultOf<{ baseline: FairnessRun[]; product: FairnessRun[] }>(results, 'fairness')
  if (pairs === undefined) return undefined
  const rows = (['create', 'status'] as const).flatMap((what) =>
    (['baseline', 'product'] as const).map((kind) => ({
      label: `${what}, ${kind === 'baseline' ? 'straight on the host' : 'Causeway'}`,
      values: (['alone', 'beside'] as const).map((side) => median(pairs[kind].map((run) => run[what][side].p99))),
    })),
  )
  const series = ['alone', 'beside greedy tenants']
  return drawBars({ title: 'What regular tenants wait for', unit: 'ms, p99', series, rows })
}

const restart: Draw = (results) => {
  const runs = resultOf<{ runs: RestartRun[] }>(results, 'restart')?.runs
  if (runs === undefined) return undefined
  const rows = [...new Set(runs.map(({ way }) => way))].map((way) => {
    const of = runs.filter((run) => run.way === way)
    return { label: way, values: [median(of.map(({ ready }) => ready)), median(of.map(({ caughtUp }) => caughtUp))] }
  })
  const title = `Restart of all processes, ${runs[0]?.pods ?? 0} pods`
  return drawBars({ title, unit: 's', series: ['ready', 'caught up'], rows })
}

const fleet: Draw = (results) => {
  const runs = resultOf<{ runs: FleetRun[] }>(results, 'fleet')?.runs
  if (runs === undefined) return undefined
  const series = ['causeway', 'nats']
  const rows = runs.map(({ tenants, residentMegabytes }) => ({
    label: `${tenants} tenants`,
    values: series.map((name) => residentMegabytes[name] ?? 0),
  }))
  return drawBars({ title: 'Memory of an idle fleet', unit: 'MB', series, rows, stacked: true })
}

function burstsOf(results: Results): (readonly [string, Burst])[] {
  return Object.keys(results).flatMap((name) => {
    const runs = name.startsWith('burst ') ? resultOf<Burst>(results, name) : undefined
    return runs === undefined ? [] : [[name, runs] as const]
  })
}

function resultOf<T>(results: Results, name: string): T | undefined {
  return results[name]?.result as T | undefined
}
