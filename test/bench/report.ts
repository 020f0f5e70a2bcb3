import type { BurstRun } from './burst.ts'
import type { ChangesRun } from './changes.ts'
import type { Cost } from './measure.ts'
import { STAGE_NAMES, WRITES, countWrites, stageTimes } from './outcomes.ts'
import type { Pairs } from './pairs.ts'
import { type Percentiles, median, medianPercentiles } from './statistics.ts'
import { type Cell, table } from './table.ts'
import type { TrickleRun } from './trickle.ts'

/** Names of the processes that are ours or NATS. */
type OwnNames = readonly string[]

export function reportTrickle(runs: Pairs<TrickleRun>, own: OwnNames): string {
  const row = (name: string, list: readonly Percentiles[]): Cell[] => [name, ...points(medianPercentiles(list))]
  const latencies = table(
    ['latency, ms', ...POINTS],
    [
      row(
        'baseline: create sent, seen on the host',
        runs.baseline.map((run) => run.create),
      ),
      row(
        'create answered in the tenant, seen on the host',
        runs.product.map((run) => run.create),
      ),
      row(
        'baseline: status patch sent, seen',
        runs.baseline.map((run) => run.status),
      ),
      row(
        'running on the host, seen in the tenant',
        runs.product.map((run) => run.status),
      ),
      row(
        'baseline: the create call on the host',
        runs.baseline.map((run) => run.call),
      ),
      row(
        'the create call in the tenant',
        runs.product.map((run) => run.call),
      ),
    ],
  )
  return [latencies, stagesTable(runs.product.map((run) => run.cost)), ...costTables(runs, own)].join('\n\n')
}

export function reportBurst(runs: Pairs<BurstRun>, own: OwnNames): string {
  const baseline = runs.baseline.map((run) => run.seconds)
  const product = runs.product.map((run) => run.seconds)
  const ratios = product.map((seconds, index) => seconds / (baseline[index] ?? seconds))
  const rows: Cell[][] = product.map((seconds, index) => [`run ${index + 1}`, baseline[index], seconds, ratios[index]])
  rows.push(['median', median(baseline), median(product), median(ratios)])
  const times = table(['until all run', 'baseline, s', 'product, s', 'times'], rows)
  return [times, stagesTable(runs.product.map((run) => run.cost)), ...costTables(runs, own)].join('\n\n')
}

/** Changes of something that is there: what each takes until it is seen at the other side, and all of them. */
export function reportChanges(
  runs: Pairs<ChangesRun>,
  own: OwnNames,
  names: { baseline: string; product: string },
): string {
  const row = (name: string, list: readonly ChangesRun[]): Cell[] => [
    name,
    median(list.map(({ seconds }) => seconds)),
    ...points(medianPercentiles(list.map(({ latency }) => latency))),
  ]
  const times = table(
    ['until seen', 'all, s', ...POINTS.map((point) => `${point}, ms`)],
    [row(names.baseline, runs.baseline), row(names.product, runs.product)],
  )
  return [times, stagesTable(runs.product.map((run) => run.cost)), ...costTables(runs, own)].join('\n\n')
}

const POINTS = ['p50', 'p90', 'p99', 'max']

function points({ p50, p90, p99, max }: Percentiles): number[] {
  return [p50, p90, p99, max]
}

function stagesTable(costs: readonly Cost[]): string {
  const runs = costs.map((cost) => stageTimes(cost.outcomes))
  const rows = WRITES.flatMap((write) =>
    STAGE_NAMES.flatMap((stage): Cell[][] => {
      const list = runs.flatMap((run) => run.get(write)?.[stage] ?? [])
      return list.some(({ count }) => count > 0) ? [[write, stage, ...points(medianPercentiles(list))]] : []
    }),
  )
  return table(['write', 'stage, ms', ...POINTS], rows)
}

function costTables(runs: Pairs<{ cost: Cost }>, own: OwnNames): string[] {
  return [usageTable(runs, own), writesTable(runs)]
}

function usageTable({ baseline, product, pods, unit }: Pairs<{ cost: Cost }>, own: OwnNames): string {
  const cpu = (list: readonly { cost: Cost }[], name: string): number =>
    (median(list.map(({ cost }) => cost.usage.get(name)?.cpuSeconds ?? 0)) * 1000) / pods
  const peak = (name: string): number => median(product.map(({ cost }) => cost.usage.get(name)?.peakMegabytes ?? 0))
  const names = [...(product[0]?.cost.usage.keys() ?? [])]
  const rows = names.map((name): Cell[] => [name, cpu(baseline, name), cpu(product, name), peak(name)])
  const sum = (pick: (name: string) => number, of: readonly string[]): number =>
    of.reduce((total, name) => total + pick(name), 0)
  for (const [title, of] of [
    ['ours and NATS', own],
    ['all', names],
  ] as const) {
    rows.push([title, sum((name) => cpu(baseline, name), of), sum((name) => cpu(product, name), of), sum(peak, of)])
  }
  return table(['process', `baseline, CPU ms/${unit}`, `product, CPU ms/${unit}`, 'peak MB'], rows)
}

function writesTable({ product, pods, unit }: Pairs<{ cost: Cost }>): string {
  const counts = new Map<string, number>()
  for (const { cost } of product)
    for (const [name, count] of countWrites(cost.outcomes)) counts.set(name, (counts.get(name) ?? 0) + count)
  const total = pods * product.length
  const messages = (of: keyof Cost['messages']): number =>
    product.reduce((sum, { cost }) => sum + cost.messages[of], 0) / total
  const writes = [...counts].map(([name, count]): Cell[] => [name, count / total])
  const rows = (['changes', 'intents', 'outcomes'] as const).map((of): Cell[] => [`messages: ${of}`, messages(of)])
  return table(['writes and messages', `per ${unit}`], [...writes, ...rows])
}

/** Results as they are stored: numbers only, stages as percentiles. */
export function resultOf<T extends { cost: Cost }>(runs: Pairs<T>): object {
  const plain = ({ cost, ...rest }: T): object => ({
    ...rest,
    usage: Object.fromEntries(cost.usage),
    messages: cost.messages,
    writes: Object.fromEntries(countWrites(cost.outcomes)),
    stages: Object.fromEntries(stageTimes(cost.outcomes)),
  })
  return { pods: runs.pods, baseline: runs.baseline.map(plain), product: runs.product.map(plain) }
}
