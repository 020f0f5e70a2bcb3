import { parsePipelineConfig } from '#libs/config'
import { runService, serveHealth } from '#libs/runtime'
import { createLogger } from '#libs/telemetry'
import { parseCommandLine } from './options.ts'
import { startSimulatedNodes } from './role.ts'

const { kubeconfigPath, ...settings } = parseCommandLine(process.argv.slice(2))
const config = parsePipelineConfig(process.env)
const logger = createLogger({ service: 'simulated-nodes', ...config.log })

await runService({
  name: 'simulated-nodes',
  logger,
  start: async () => {
    const role = startSimulatedNodes({
      ...settings,
      ...(kubeconfigPath === undefined ? {} : { kubeconfigPath }),
      logger,
    })
    const health = await serveHealth({ ...config.http, roles: () => [role], metrics: () => Promise.resolve('') })
    logger.info({ url: health.url }, 'serving health')
    process.send?.({ healthUrl: health.url })
    return {
      roles: [role],
      close: async () => {
        await role.close()
        await health.close()
      },
    }
  },
})
