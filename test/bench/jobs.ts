import { burstInTenants, burstOnHost } from './burst.ts'
import { churnInTenants, churnOnHost } from './churn.ts'
import { fairness, reportFairness } from './fairness.ts'
import type { Field } from './field.ts'
import { fleet, reportFleet } from './fleet.ts'
import type { Installation } from './installation.ts'
import { isolation, reportIsolation } from './isolation.ts'
import type { BenchOptions, ScenarioName } from './options.ts'
import { inPairs, inTurn } from './pairs.ts'
import { patrolAtRest, reportPatrol } from './patrol.ts'
import { hostPlaces, tenantPlaces } from './regular.ts'
import { replay, reportReplay } from './replay.ts'
import { reportBurst, reportChanges, reportTrickle, resultOf } from './report.ts'
import { reportRestart, restart } from './restart.ts'
import { reportSeeing, seeing } from './seeing.ts'
import { reportSoak, soak } from './soak.ts'
import { stormInTenants, stormOnHost } from './storm.ts'
import { reportTranslators, translators } from './translators.ts'
import { trickleInTenant, trickleOnHost } from './trickle.ts'

/** What came of a job: tables for people, numbers for the rest. */
export type Report = { text: string; result: object }
export type Progress = (line: string) => void
/** Clusters and all that serves them, as a job finds it: at rest, without pods. */
export type Stage = { installation: Installation; field: Field; progress: Progress }

/** One measurement. */
export type Job = { name: string } & (
  | {
      /** Tenants that it takes; jobs that follow one another and take as many share an installation. */
      tenants: number
      /** Pods that it has at once at most. */
      pods: number
      run(stage: Stage): Promise<Report>
    }
  | { tenants?: undefined; run(progress: Progress): Promise<Report> }
)

/** What is to be measured, in order. */
export function jobsOf(options: BenchOptions): Job[] {
  return options.scenarios.flatMap((name) => JOBS[name](options))
}

const JOBS: Record<ScenarioName, (options: BenchOptions) => Job[]> = {
  patrol: ({ patrolObjects, repeat }) => [
    alone('patrol', async () => {
      const runs = await patrolAtRest({ objects: patrolObjects, repeat })
      return { text: reportPatrol(runs), result: { runs } }
    }),
  ],
  replay: ({ replayMessages, repeat }) => [
    alone('replay', async (onProgress) => {
      const runs = await replay({ messages: replayMessages, repeat, onProgress })
      return { text: reportReplay(runs), result: { runs } }
    }),
  ],
  translators: ({ translatorsPods: pods, repeat }) => [
    alone('translators', async (progress) => {
      const runs = await translators({ pods, repeat, progress })
      return { text: reportTranslators(runs), result: { runs } }
    }),
  ],
  trickle: ({ tricklePods: pods, trickleRate: perSecond, repeat }) => [
    {
      name: 'trickle',
      tenants: 1,
      pods,
      run: async ({ installation, field, progress }) => {
        const runs = await inPairs(field, {
          repeat,
          pods,
          progress,
          baseline: () => trickleOnHost(installation, field, { pods, perSecond }),
          product: () => trickleInTenant(installation, field, { pods, perSecond }),
        })
        return { text: reportTrickle(runs, installation.ownNames), result: resultOf(runs) }
      },
    },
  ],
  burst: ({ bursts, repeat }) =>
    bursts.map(({ tenants, pods: podsEach }) => {
      const pods = tenants * podsEach
      return {
        name: `burst ${tenants} x ${podsEach}`,
        tenants,
        pods,
        run: async ({ installation, field, progress }) => {
          const runs = await inPairs(field, {
            repeat,
            pods,
            progress,
            baseline: () => burstOnHost(installation, field, pods),
            product: () => burstInTenants(installation, field, { tenants, pods }),
          })
          return { text: reportBurst(runs, installation.ownNames), result: resultOf(runs) }
        },
      }
    }),
  churn: ({ embedded, churnMaps, churnChanges: changes, churnRate: perSecond, repeat }) => [
    {
      name: 'churn',
      tenants: embedded,
      pods: embedded,
      run: async ({ installation, field, progress }) => {
        const scale = { maps: churnMaps, changes, perSecond }
        const runs = await inPairs(field, {
          repeat,
          pods: changes,
          unit: 'change',
          progress,
          baseline: () => churnOnHost(installation, field, scale),
          product: () => churnInTenants(installation, field, scale),
        })
        const names = {
          baseline: 'baseline: sent, seen on the host',
          product: 'answered in the tenant, seen on the host',
        }
        return { text: reportChanges(runs, installation.ownNames, names), result: resultOf(runs) }
      },
    },
  ],
  storm: ({ embedded, stormPods: pods, stormRounds: rounds, repeat }) => [
    {
      name: 'storm',
      tenants: embedded,
      pods,
      run: async ({ installation, field, progress }) => {
        const runs = await inPairs(field, {
          repeat,
          pods: pods * rounds,
          unit: 'change',
          progress,
          baseline: () => stormOnHost(installation, field, { pods, rounds }),
          product: () => stormInTenants(installation, field, { pods, rounds }),
        })
        const names = {
          baseline: 'baseline: last sent, seen on the host',
          product: 'last sent to the host, seen in the tenant',
        }
        return { text: reportChanges(runs, installation.ownNames, names), result: resultOf(runs) }
      },
    },
  ],
  fairness: (options) => [
    {
      name: 'fairness',
      tenants: options.embedded,
      pods: (options.embedded / 5) * options.greedyPods + options.embedded * options.regularPods * 2,
      run: async ({ installation, field, progress }) => {
        const runs = await inPairs(field, {
          repeat: options.repeat,
          pods: options.greedyPods,
          progress,
          baseline: () => fairness(installation, hostPlaces(installation.host, field), options),
          product: () => fairness(installation, tenantPlaces(field), options),
        })
        const text = `straight on the host\n\n${reportFairness(runs.baseline)}\n\ntenants\n\n${reportFairness(runs.product)}`
        return { text, result: runs }
      },
    },
  ],
  isolation: ({ embedded, repeat, regularPods }) => [
    {
      name: 'isolation',
      tenants: embedded,
      pods: embedded * regularPods * 4,
      run: ({ installation, field, progress }) =>
        inTurn(field, {
          repeat,
          progress,
          run: () => isolation(installation, field, { podsEach: regularPods }),
          report: reportIsolation,
        }),
    },
  ],
  seeing: (options) => [
    alone('seeing', async (progress) => {
      const seen = await seeing(options, { pods: options.seeingPods, repeat: options.repeat, progress })
      return { text: reportSeeing(seen), result: resultOf(seen.runs) }
    }),
  ],
  restart: (options) => [
    alone('restart', async (progress) => {
      const runs = await restart(options, { pods: options.restartPods, repeat: options.repeat, progress })
      return { text: reportRestart(runs), result: { runs } }
    }),
  ],
  fleet: (options) => [
    alone('fleet', async (progress) => {
      const { fleetTenants: tenants, fleetRestSeconds: restSeconds } = options
      const runs = await fleet(options, { tenants, restSeconds, progress })
      return { text: reportFleet(runs), result: { runs } }
    }),
  ],
  soak: ({ embedded, soakMinutes: minutes, soakRate: perSecond, soakAlive: alive }) => [
    {
      name: 'soak',
      tenants: embedded,
      pods: embedded * (alive + perSecond),
      run: async ({ installation, field, progress }) => {
        const run = await soak(installation, field, { minutes, perSecond, alive, progress })
        return { text: reportSoak(run), result: run }
      },
    },
  ],
}

function alone(name: string, run: (progress: Progress) => Promise<Report>): Job {
  return { name, run }
}
