import { parseArgs } from 'node:util'
import { ConfigError, errorMessage } from '#libs/kernel'

const SCENARIOS = ['trickle', 'burst', 'fairness', 'isolation', 'patrol'] as const
type Scenario = (typeof SCENARIOS)[number]

export type BenchOptions = {
  scenarios: Scenario[]
  /** Runs of each scenario, each with a baseline before it. */
  repeat: number
  /** Whether watcher, translator and writer are processes of their own. */
  separate: boolean
  /** Kubeconfig of a host that is there already; embedded without. */
  hostKubeconfig: string | undefined
  /** Tenants on API servers that are there already, `name=kubeconfig`; embedded ones without. */
  tenants: { name: string; kubeconfig: string }[]
  /** Other processes to account for, such as real API servers. */
  processes: Record<string, number>
  tricklePods: number
  /** Pods per second. */
  trickleRate: number
  burstPods: number
  warmupPods: number
  /** Embedded tenants, where none are given. */
  embedded: number
  /** Pods of each greedy tenant, and of each regular one. */
  greedyPods: number
  regularPods: number
  /** Objects of the tenant that is patrolled. */
  patrolObjects: number
  out: string
  cpuProfDir: string | undefined
}

const DEFAULT_OUT = '.cache/bench.json'

export const USAGE = `npm run bench -- [options]

  --scenario NAME            trickle, burst, fairness, isolation or patrol (repeatable; default: all)
  --repeat N                 runs of each, each next to a baseline (3)
  --separate                 watcher, translator and writer as processes of their own
  --host-kubeconfig FILE     a host that is there already (default: embedded)
  --tenant NAME=KUBECONFIG   a tenant that is there already (repeatable; default: embedded ones)
  --embedded N               how many embedded ones (5; the fairness of VirtualCluster’s paper: 50)
  --process NAME=PID         another process to account for, such as a real API server (repeatable)
  --trickle-pods N           pods of a trickle (100)
  --trickle-rate N           pods per second of a trickle (10)
  --burst-pods N             pods of a burst (500)
  --warmup-pods N            pods before anything is measured (200)
  --greedy-pods N            pods that each greedy tenant, one of five, makes at once (100; the paper: 900)
  --regular-pods N           pods that each regular tenant makes one after another (10)
  --patrol-objects N         objects of the tenant that is patrolled (10000)
  --out FILE                 where the results go as JSON (${DEFAULT_OUT})
  --cpu-prof DIR             write CPU profiles of the started processes there
`

/**
 * Reads the command line.
 * @throws ConfigError with every problem
 */
export function parseOptions(args: readonly string[]): BenchOptions {
  const flags = read(args)
  const problems: string[] = []
  const count = (name: string, text: string | undefined, fallback: number): number => {
    const value = text === undefined ? fallback : Number(text)
    if (Number.isInteger(value) && value > 0) return value
    problems.push(`--${name}: must be a whole number above 0`)
    return fallback
  }
  const pair = (name: string, text: string): [string, string] => {
    const [, key = '', value = ''] = /^([^=]+)=(.+)$/.exec(text) ?? []
    if (key === '') problems.push(`--${name} ${text}: must be NAME=VALUE`)
    return [key, value]
  }
  const scenarios = SCENARIOS.filter((scenario) => flags.scenario?.includes(scenario) ?? true)
  for (const name of flags.scenario ?? []) {
    if (!SCENARIOS.some((scenario) => scenario === name)) problems.push(`--scenario ${name}: there is no such scenario`)
  }
  const options: BenchOptions = {
    scenarios,
    repeat: count('repeat', flags.repeat, 3),
    separate: flags.separate ?? false,
    hostKubeconfig: flags['host-kubeconfig'],
    tenants: (flags.tenant ?? []).map((text) => {
      const [name, kubeconfig] = pair('tenant', text)
      return { name, kubeconfig }
    }),
    processes: Object.fromEntries(
      (flags.process ?? []).map((text) => {
        const [name, pid] = pair('process', text)
        return [name, count('process', pid, 1)]
      }),
    ),
    tricklePods: count('trickle-pods', flags['trickle-pods'], 100),
    trickleRate: count('trickle-rate', flags['trickle-rate'], 10),
    burstPods: count('burst-pods', flags['burst-pods'], 500),
    warmupPods: count('warmup-pods', flags['warmup-pods'], 200),
    embedded: count('embedded', flags.embedded, 5),
    greedyPods: count('greedy-pods', flags['greedy-pods'], 100),
    regularPods: count('regular-pods', flags['regular-pods'], 10),
    patrolObjects: count('patrol-objects', flags['patrol-objects'], 10_000),
    out: flags.out ?? DEFAULT_OUT,
    cpuProfDir: flags['cpu-prof'],
  }
  if (problems.length > 0) throw new ConfigError(problems)
  return options
}

function read(args: readonly string[]) {
  const text = { type: 'string' } as const
  const texts = { type: 'string', multiple: true } as const
  try {
    return parseArgs({
      args: [...args],
      options: {
        scenario: texts,
        repeat: text,
        separate: { type: 'boolean' },
        'host-kubeconfig': text,
        tenant: texts,
        process: texts,
        'trickle-pods': text,
        'trickle-rate': text,
        'burst-pods': text,
        'warmup-pods': text,
        embedded: text,
        'greedy-pods': text,
        'regular-pods': text,
        'patrol-objects': text,
        out: text,
        'cpu-prof': text,
      },
    }).values
  } catch (error) {
    throw new ConfigError([errorMessage(error)], { cause: error })
  }
}
