import type { Field } from './field.ts'

/** Runs of one scenario, in pairs: each baseline right before the product. */
export type Pairs<T> = {
  /** How many pods, or whatever else the costs are divided by. */
  pods: number
  /** What they are divided by. */
  unit: string
  baseline: T[]
  product: T[]
}

/** Baseline, product, baseline, product …: a machine drifts within minutes, so only neighbours can be compared. */
export async function inPairs<T>(
  field: Field,
  scenario: {
    repeat: number
    pods: number
    unit?: string
    progress: (line: string) => void
    baseline(): Promise<T>
    product(): Promise<T>
  },
): Promise<Pairs<T>> {
  const { repeat, pods, unit = 'pod', progress } = scenario
  const runs: Pairs<T> = { pods, unit, baseline: [], product: [] }
  for (let run = 1; run <= repeat; run++) {
    for (const kind of ['baseline', 'product'] as const) {
      progress(`${run}/${repeat}: ${kind}`)
      runs[kind].push(await scenario[kind]())
      await field.clear()
    }
  }
  return runs
}

/** Runs a scenario that has its comparison in it. */
export async function inTurn<T>(
  field: Field,
  scenario: {
    repeat: number
    progress: (line: string) => void
    run: () => Promise<T>
    report: (runs: readonly T[]) => string
  },
): Promise<{ text: string; result: object }> {
  const { repeat, progress, run, report } = scenario
  const runs: T[] = []
  for (let number = 1; number <= repeat; number++) {
    progress(`${number}/${repeat}`)
    runs.push(await run())
    await field.clear()
  }
  return { text: report(runs), result: { runs } }
}
