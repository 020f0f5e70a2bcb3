import type { Intent } from '#libs/events'
import type { DecisionKey, Projection } from '#libs/projection'
import type { TranslatorMetrics } from './metrics.ts'
import { Sweeps } from './sweeps.ts'

/** What a patrol has seen so far: objects, and by rule the writes that only it found to be missing. */
export type PatrolReport = { looked: number; repaired: Record<string, number> }

type Run = { sweeps: Sweeps; report: PatrolReport; isRoutine: boolean; tell: (report: PatrolReport) => void }

/** Patrols of a partition, one after the other: every object decided about again, whether or not anything told of a change. */
export class Patrol {
  readonly #options: { projection: Projection; metrics: Pick<TranslatorMetrics, 'repaired' | 'patrolled'> }
  readonly #runs: Run[] = []

  constructor(options: { projection: Projection; metrics: Pick<TranslatorMetrics, 'repaired' | 'patrolled'> }) {
    this.#options = options
  }

  get isEmpty(): boolean {
    return this.#runs.length === 0
  }

  /** Begins the one that comes round by itself, unless it is under way. */
  goRound(tenants: readonly string[]): void {
    if (this.#runs.some(({ isRoutine }) => isRoutine)) return
    void this.#begin(tenants, { isRoutine: true, tell: () => undefined })
  }

  /**
   * Begins one that was asked for.
   * @param tell told after each slice
   * @returns what it has seen, once it is complete
   */
  run(tenants: readonly string[], tell: (report: PatrolReport) => void): Promise<PatrolReport> {
    const { promise, resolve } = Promise.withResolvers<PatrolReport>()
    const run = this.#begin(tenants, {
      isRoutine: false,
      tell: (report) => {
        tell(report)
        if (run.sweeps.isEmpty) resolve(report)
      },
    })
    if (run.sweeps.isEmpty) resolve(run.report)
    return promise
  }

  #begin(tenants: readonly string[], how: Pick<Run, 'isRoutine' | 'tell'>): Run {
    const sweeps = new Sweeps(this.#options.projection)
    for (const tenant of tenants) sweeps.add({ tenant })
    const run: Run = { ...how, sweeps, report: { looked: 0, repaired: {} } }
    if (!sweeps.isEmpty) this.#runs.push(run)
    return run
  }

  /** The next keys to decide about, at most `limit`. */
  take(limit: number): DecisionKey[] {
    const [run] = this.#runs
    const keys = run?.sweeps.take(limit) ?? []
    if (run !== undefined) run.report.looked += keys.length
    return keys
  }

  /** Takes in what followed from the keys that were taken last. */
  decided(intents: readonly Pick<Intent, 'rule' | 'attempt'>[]): void {
    const [run] = this.#runs
    if (run === undefined) return
    const { metrics } = this.#options
    // Another attempt was due, and only happened to be decided here; and that a tenant is told something repairs nothing.
    for (const { rule, attempt } of intents) {
      if (attempt > 0 || rule === 'announce') continue
      metrics.repaired(rule)
      run.report.repaired[rule] = (run.report.repaired[rule] ?? 0) + 1
    }
    if (run.sweeps.isEmpty) {
      this.#runs.shift()
      metrics.patrolled()
    }
    run.tell(run.report)
  }
}
