import { parseArgs } from 'node:util'
import { ConfigError, errorMessage } from '#libs/kernel'
import { type BurstShape, FULL, SMOKE, type Scale, USUAL } from './scales.ts'

/** In the order in which they run: those that share an installation next to one another. */
const SCENARIOS = [
  'patrol',
  'replay',
  'translators',
  'trickle',
  'burst',
  'churn',
  'storm',
  'fairness',
  'isolation',
  'seeing',
  'restart',
  'fleet',
  'soak',
] as const
export type ScenarioName = (typeof SCENARIOS)[number]

/** What runs only where it is named: it takes as long as it is told to. */
const ON_DEMAND: readonly ScenarioName[] = ['soak']

export type BenchOptions = Scale & {
  scenarios: ScenarioName[]
  /** Whether watcher, translator and writer are processes of their own. */
  separate: boolean
  /** Kubeconfig of a host that is there already; embedded without. */
  hostKubeconfig: string | undefined
  /** Tenants on API servers that are there already, `name=kubeconfig`; embedded ones without. */
  tenants: { name: string; kubeconfig: string }[]
  /** Other processes to account for, such as real API servers. */
  processes: Record<string, number>
  /** Where the results go as JSON. */
  json: string
  /** Folder for charts as SVG; none are drawn without. */
  charts: string | undefined
  /** Results of an earlier run, to draw charts of: nothing is measured. */
  from: string | undefined
  /** Folder for CPU profiles of the started processes. */
  cpuProfDir: string | undefined
}

const DEFAULT_JSON = '.cache/bench.json'

type Count = Exclude<keyof Scale, 'bursts'>

/** Flags that set one size each. */
const COUNTS: Record<string, Count> = {
  repeat: 'repeat',
  embedded: 'embedded',
  'trickle-pods': 'tricklePods',
  'trickle-rate': 'trickleRate',
  'warmup-pods': 'warmupPods',
  'churn-maps': 'churnMaps',
  'churn-changes': 'churnChanges',
  'churn-rate': 'churnRate',
  'storm-pods': 'stormPods',
  'storm-rounds': 'stormRounds',
  'greedy-pods': 'greedyPods',
  'regular-pods': 'regularPods',
  'restart-pods': 'restartPods',
  'seeing-pods': 'seeingPods',
  'patrol-objects': 'patrolObjects',
  'replay-messages': 'replayMessages',
  'translators-pods': 'translatorsPods',
  'fleet-tenants': 'fleetTenants',
  'fleet-rest-seconds': 'fleetRestSeconds',
  'soak-minutes': 'soakMinutes',
  'soak-rate': 'soakRate',
  'soak-alive': 'soakAlive',
}

export const USAGE = `npm run bench -- [options]

  --scenario NAME[,NAME]     ${SCENARIOS.join(', ')} (default: all but soak)
  --full                     the sizes that the aims are stated for: an hour and more
  --smoke                    the smallest sizes, to see that everything runs: half a minute, figures without a meaning
  --separate                 watcher, translator and writer as processes of their own
  --host-kubeconfig FILE     a host that is there already (default: embedded)
  --tenant NAME=KUBECONFIG   a tenant that is there already (repeatable; default: embedded ones)
  --process NAME=PID         another process to account for, such as a real API server (repeatable)
  --json FILE                where the results go (${DEFAULT_JSON})
  --charts DIR               draw charts of the results there, as SVG
  --from FILE                draw charts of an earlier run's results, and measure nothing
  --cpu-prof DIR             write CPU profiles of the started processes there

Sizes, each a whole number; the defaults are those of test/bench/scales.ts:

  --repeat N                 runs of each scenario, each next to a baseline
  --burst TENANTSxPODS       a burst in so many tenants of so many pods each (repeatable)
  --embedded N               tenants of churn, storm, fairness and isolation
${Object.keys(COUNTS)
  .filter((name) => name.includes('-'))
  .map((name) => `  --${name} N`)
  .join('\n')}
`

/**
 * Reads the command line.
 * @throws ConfigError with every problem
 */
export function parseOptions(args: readonly string[]): BenchOptions {
  const flags = read(args)
  const problems: string[] = []
  const text = (name: string): string | undefined => flags[name]?.at(-1)?.toString()
  const texts = (name: string): string[] => (flags[name] ?? []).map(String)
  const count = (name: string, value: string): number => {
    if (!/^[1-9]\d*$/.test(value)) problems.push(`--${name} ${value}: must be a whole number above 0`)
    return Number(value)
  }
  const pair = (name: string, value: string): [string, string] => {
    const [, key = '', rest = ''] = /^([^=]+)=(.+)$/.exec(value) ?? []
    if (key === '') problems.push(`--${name} ${value}: must be NAME=VALUE`)
    return [key, rest]
  }
  const burst = (value: string): BurstShape => {
    const [, tenants = '', pods = ''] = /^(\d+)x(\d+)$/.exec(value) ?? []
    if (tenants === '') problems.push(`--burst ${value}: must be TENANTSxPODS, such as 20x25`)
    return { tenants: Number(tenants), pods: Number(pods) }
  }
  if (flags['full'] !== undefined && flags['smoke'] !== undefined) problems.push('--full and --smoke: give one of them')
  const scale = flags['full'] !== undefined ? FULL : flags['smoke'] !== undefined ? SMOKE : USUAL
  const counts = Object.entries(COUNTS).flatMap(([name, key]) => {
    const value = text(name)
    return value === undefined ? [] : [[key, count(name, value)] as const]
  })
  const bursts = texts('burst').map(burst)
  const options: BenchOptions = {
    ...scale,
    ...Object.fromEntries(counts),
    ...(bursts.length === 0 ? {} : { bursts }),
    scenarios: scenariosOf(texts('scenario'), problems),
    separate: flags['separate'] !== undefined,
    hostKubeconfig: text('host-kubeconfig'),
    tenants: texts('tenant').map((value) => {
      const [name, kubeconfig] = pair('tenant', value)
      return { name, kubeconfig }
    }),
    processes: Object.fromEntries(
      texts('process').map((value) => {
        const [name, pid] = pair('process', value)
        return [name, count('process', pid)]
      }),
    ),
    json: text('json') ?? DEFAULT_JSON,
    charts: text('charts'),
    from: text('from'),
    cpuProfDir: text('cpu-prof'),
  }
  if (problems.length > 0) throw new ConfigError(problems)
  return options
}

function scenariosOf(texts: readonly string[], problems: string[]): ScenarioName[] {
  const wanted = texts.flatMap((text) => text.split(','))
  for (const name of wanted) {
    if (!SCENARIOS.some((scenario) => scenario === name)) problems.push(`--scenario ${name}: there is no such scenario`)
  }
  return SCENARIOS.filter((scenario) =>
    wanted.length === 0 ? !ON_DEMAND.includes(scenario) : wanted.includes(scenario),
  )
}

type Flags = Record<string, (string | boolean)[] | undefined>

function read(args: readonly string[]): Flags {
  const text = { type: 'string', multiple: true } as const
  const flag = { type: 'boolean', multiple: true } as const
  const names = ['scenario', 'burst', 'host-kubeconfig', 'tenant', 'process', 'json', 'charts', 'from', 'cpu-prof']
  const texts = [...names, ...Object.keys(COUNTS)].map((name) => [name, text] as const)
  try {
    const options = { full: flag, smoke: flag, separate: flag, ...Object.fromEntries(texts) }
    return parseArgs({ args: [...args], options }).values as Flags
  } catch (error) {
    throw new ConfigError([errorMessage(error)], { cause: error })
  }
}
