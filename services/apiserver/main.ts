import { parseArgs } from 'node:util'
import { ConfigError, errorMessage } from '#libs/kernel'
import { createLogger } from '#libs/telemetry'
import { parseApiserverConfig } from './config.ts'
import { startApiserver } from './role.ts'

const { values } = parseArgs({
  options: {
    'data-dir': { type: 'string' },
    host: { type: 'string' },
    port: { type: 'string' },
    clusters: { type: 'string' },
    'root-cluster': { type: 'string' },
    'history-limit': { type: 'string' },
    'history-size': { type: 'string' },
    'log-level': { type: 'string' },
  },
})

async function main(): Promise<void> {
  const config = parseApiserverConfig(values, process.env)
  // Standard output is for the ready line alone.
  const logger = createLogger({ service: 'apiserver', level: config.logLevel, toStandardError: true })
  const server = await startApiserver({ ...config, logger })
  const stop = (): void => {
    process.once('SIGTERM', () => process.exit(1))
    process.once('SIGINT', () => process.exit(1))
    void server.close().then(() => process.exit(0))
  }
  process.once('SIGTERM', stop)
  process.once('SIGINT', stop)
  // Started by another process over a channel: when that process is gone, so is the reason to run.
  process.channel?.unref()
  process.once('disconnect', stop)
  const kubeconfigs = Object.fromEntries(server.clusterNames().map((name) => [name, server.kubeconfigFile(name)]))
  process.stdout.write(`${JSON.stringify({ ready: true, ...server.address, kubeconfigs })}\n`)
}

main().catch((error: unknown) => {
  const text = error instanceof ConfigError ? error.problems.join('\n') : errorMessage(error)
  process.stderr.write(`apiserver: ${text}\n`)
  process.exit(1)
})
