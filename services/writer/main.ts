import { parsePipelineConfig } from '#libs/config'
import { openRoleContext, runService, serveHealth } from '#libs/runtime'
import { createLogger } from '#libs/telemetry'
import { startWriter } from './role.ts'

const config = parsePipelineConfig(process.env)
const logger = createLogger({ service: 'writer', ...config.log })

await runService({
  name: 'writer',
  logger,
  start: async (signal) => {
    const context = await openRoleContext(config, { name: 'writer', logger, signal })
    const roles = [await startWriter(context)]
    const health = await serveHealth({ ...config.http, roles: () => roles, metrics: () => context.metrics.metrics() })
    logger.info({ url: health.url }, 'serving health')
    return {
      roles,
      close: async () => {
        for (const role of roles) await role.close()
        await health.close()
        await context.close()
      },
    }
  },
})
