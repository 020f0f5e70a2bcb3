import { mkdirSync, writeFileSync } from 'node:fs'
import { cpus, loadavg } from 'node:os'
import { dirname } from 'node:path'
import { ConfigError, errorMessage } from '#libs/kernel'
import { patrolAtRest, reportPatrol } from './patrol.ts'
import { fairness, reportFairness } from './fairness.ts'
import { isolation, reportIsolation } from './isolation.ts'
import { burstInTenants, burstOnHost } from './burst.ts'
import { type Field, openField } from './field.ts'
import { type Installation, startInstallation } from './installation.ts'
import { type BenchOptions, USAGE, parseOptions } from './options.ts'
import { type Pairs, reportBurst, reportTrickle, resultOf } from './report.ts'
import { hostPlaces, tenantPlaces } from './regular.ts'
import { trickleInTenant, trickleOnHost } from './trickle.ts'

function progress(line: string): void {
  process.stderr.write(`${line}\n`)
}

async function bench(options: BenchOptions): Promise<void> {
  const results: Record<string, object> = {}
  if (options.scenarios.includes('patrol')) results['patrol'] = await benchPatrol(options)
  const scenarios = options.scenarios.filter((name) => name !== 'patrol')
  if (scenarios.length > 0) await benchInstallation(options, scenarios, results)
  else write(options, { results })
}

/** In this process alone: nothing else takes part in a patrol at rest. */
async function benchPatrol({ repeat, patrolObjects }: BenchOptions): Promise<object> {
  progress('patrol')
  const runs = await patrolAtRest({ objects: patrolObjects, repeat })
  process.stdout.write(`\npatrol\n\n${reportPatrol(runs)}\n`)
  return { runs }
}

function write(options: BenchOptions, measured: object): void {
  mkdirSync(dirname(options.out), { recursive: true })
  writeFileSync(options.out, `${JSON.stringify({ options, ...measured }, undefined, 2)}\n`)
  progress(`written to ${options.out}`)
}

async function benchInstallation(
  options: BenchOptions,
  scenarios: readonly InstallationScenario[],
  results: Record<string, object>,
): Promise<void> {
  progress('starting the installation')
  const installation = await startInstallation(options)
  try {
    const field = await openField(installation)
    const machine = {
      cpus: cpus().length,
      model: cpus()[0]?.model ?? '',
      node: process.version,
      nats: installation.bus.nats.info?.version ?? '',
      host: await versionOf(installation),
    }
    const load = loadavg()[0] ?? 0
    process.stdout.write(`${Object.values(machine).join(', ')}; load before ${load.toFixed(1)}\n`)
    await warmUp(installation, field, options)
    for (const scenario of scenarios) {
      const { text, result } = await SCENARIO[scenario](installation, field, options)
      process.stdout.write(`\n${scenario}\n\n${text}\n`)
      results[scenario] = result
    }
    await field.close()
    write(options, { machine, load, results })
  } finally {
    await installation.close()
  }
}

type Run = (
  installation: Installation,
  field: Field,
  options: BenchOptions,
) => Promise<{ text: string; result: object }>

type InstallationScenario = Exclude<BenchOptions['scenarios'][number], 'patrol'>

const SCENARIO: Record<InstallationScenario, Run> = {
  trickle: async (installation, field, { repeat, tricklePods, trickleRate }) => {
    const rhythm = { pods: tricklePods, perSecond: trickleRate }
    const runs = await inPairs(field, {
      what: 'trickle',
      repeat,
      pods: tricklePods,
      baseline: () => trickleOnHost(installation, field, rhythm),
      product: () => trickleInTenant(installation, field, rhythm),
    })
    return { text: reportTrickle(runs, installation.ownNames), result: resultOf(runs) }
  },
  burst: async (installation, field, { repeat, burstPods }) => {
    const runs = await inPairs(field, {
      what: 'burst',
      repeat,
      pods: burstPods,
      baseline: () => burstOnHost(installation, field, burstPods),
      product: () => burstInTenants(installation, field, burstPods),
    })
    return { text: reportBurst(runs, installation.ownNames), result: resultOf(runs) }
  },
  fairness: async (installation, field, options) => {
    const pods = options.greedyPods
    const runs = await inPairs(field, {
      what: 'fairness',
      repeat: options.repeat,
      pods,
      baseline: () => fairness(installation, hostPlaces(installation.host, field), options),
      product: () => fairness(installation, tenantPlaces(field), options),
    })
    const text = `straight on the host\n\n${reportFairness(runs.baseline)}\n\ntenants\n\n${reportFairness(runs.product)}`
    return { text, result: runs }
  },
  isolation: (installation, field, { repeat, regularPods }) =>
    inTurn(field, {
      what: 'isolation',
      repeat,
      run: () => isolation(installation, field, { podsEach: regularPods }),
      report: reportIsolation,
    }),
}

/** Runs a scenario that has its comparison in it. */
async function inTurn<T>(
  field: Field,
  scenario: { what: string; repeat: number; run: () => Promise<T>; report: (runs: readonly T[]) => string },
): Promise<{ text: string; result: object }> {
  const { what, repeat, run, report } = scenario
  const runs: T[] = []
  for (let number = 1; number <= repeat; number++) {
    progress(`${what} ${number}/${repeat}`)
    runs.push(await run())
    await field.clear()
  }
  return { text: report(runs), result: { runs } }
}

/** Baseline, product, baseline, product …: a machine drifts within minutes, so only neighbours can be compared. */
async function inPairs<T>(
  field: Field,
  scenario: { what: string; repeat: number; pods: number; baseline(): Promise<T>; product(): Promise<T> },
): Promise<Pairs<T>> {
  const { what, repeat, pods } = scenario
  const runs: Pairs<T> = { pods, baseline: [], product: [] }
  for (let run = 1; run <= repeat; run++) {
    for (const kind of ['baseline', 'product'] as const) {
      progress(`${what} ${run}/${repeat}: ${kind}`)
      runs[kind].push(await scenario[kind]())
      await field.clear()
    }
  }
  return runs
}

/** Code runs slowly the first times, everywhere. */
async function warmUp(installation: Installation, field: Field, options: BenchOptions): Promise<void> {
  progress('warming up')
  await burstOnHost(installation, field, options.warmupPods)
  await field.clear()
  await burstInTenants(installation, field, options.warmupPods)
  await field.clear()
}

async function versionOf({ host }: Installation): Promise<string> {
  return (await host.version()).gitVersion
}

try {
  if (process.argv.includes('--help')) process.stdout.write(USAGE)
  else await bench(parseOptions(process.argv.slice(2)))
} catch (error) {
  process.stderr.write(`bench: ${errorMessage(error)}\n`)
  process.exitCode = error instanceof ConfigError ? 2 : 1
}
