import { ConfigError } from '#libs/kernel'
import type { ClusterOptions } from './hosted-cluster.ts'

export type ApiserverConfig = {
  dataDir: string
  host: string
  port: number
  clusters: Record<string, ClusterOptions>
  rootCluster?: string
  historyLimit?: number
  historySize?: number
  logLevel: string
}

const LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']

/**
 * Flags win over the environment (`APISERVER_DATA_DIR`, `APISERVER_PORT` …). `clusters` is a list such as `host,a:open`;
 * `:open` leaves Services without an address until somebody sets one.
 * @throws ConfigError with all problems
 */
export function parseApiserverConfig(
  flags: Readonly<Record<string, string | undefined>>,
  env: Readonly<Record<string, string | undefined>>,
): ApiserverConfig {
  const problems: string[] = []
  const read = (flag: string): string | undefined =>
    flags[flag] ?? env[`APISERVER_${flag.toUpperCase().replaceAll('-', '_')}`]
  const whole = (flag: string, limit: number): number | undefined => {
    const text = read(flag)
    if (text === undefined) return undefined
    const value = Number(text)
    if (!Number.isInteger(value) || value < 0 || value > limit) {
      problems.push(`--${flag}: ${JSON.stringify(text)} is no whole number from 0 to ${limit}`)
    }
    return value
  }
  const port = whole('port', 65_535) ?? 0
  const historyLimit = whole('history-limit', 10_000_000)
  const historySize = whole('history-size', 100_000_000_000)
  const logLevel = read('log-level') ?? 'info'
  if (!LEVELS.includes(logLevel)) problems.push(`--log-level: use one of ${LEVELS.join(', ')}`)
  const clusters: Record<string, ClusterOptions> = {}
  for (const entry of (read('clusters') ?? 'host').split(',').filter((text) => text !== '')) {
    const [name = '', mode] = entry.split(':')
    if (mode !== undefined && mode !== 'open') problems.push(`--clusters: ${entry}: only :open may follow a name`)
    clusters[name] = mode === 'open' ? { serviceClusterIP: 'open' } : {}
  }
  if (problems.length > 0) throw new ConfigError(problems)
  const rootCluster = read('root-cluster')
  return {
    dataDir: read('data-dir') ?? '.causeway/apiserver',
    host: read('host') ?? '127.0.0.1',
    port,
    clusters,
    logLevel,
    ...(rootCluster === undefined ? {} : { rootCluster }),
    ...(historyLimit === undefined ? {} : { historyLimit }),
    ...(historySize === undefined ? {} : { historySize }),
  }
}
