import { parsePipelineConfig } from '#libs/config'
import { ConfigError } from '#libs/kernel'
import { runService, serveHealth } from '#libs/runtime'
import { createLogger } from '#libs/telemetry'
import { parseCommandLine } from './options.ts'
import { startSimulatedNodes } from './role.ts'

const NAME = 'simulated-nodes'

async function main(): Promise<void> {
  const { kubeconfigPath, ...settings } = parseCommandLine(process.argv.slice(2))
  const { http, log } = parsePipelineConfig(process.env)
  const logger = createLogger({ service: NAME, ...log })
  await runService({
    name: NAME,
    logger,
    start: async () => {
      const role = startSimulatedNodes({
        ...settings,
        ...(kubeconfigPath === undefined ? {} : { kubeconfigPath }),
        logger,
      })
      const health = await serveHealth({ ...http, roles: () => [role], metrics: () => Promise.resolve('') })
      logger.info({ url: health.url }, 'serving health')
      if (process.connected) process.send?.({ healthUrl: health.url })
      return {
        roles: [role],
        close: async () => {
          await role.close()
          await health.close()
        },
      }
    },
  })
}

try {
  await main()
} catch (error) {
  if (!(error instanceof ConfigError)) throw error
  for (const problem of error.problems) process.stderr.write(`${NAME}: ${problem}\n`)
  process.exitCode = 2
}
