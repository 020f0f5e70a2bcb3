import { parsePipelineConfig } from '#libs/config'
import { ConfigError } from '#libs/kernel'
import { createLogger, createRegistry } from '#libs/telemetry'
import { CloseStack } from './close-stack.ts'
import { serveHealth } from './health-server.ts'
import { type RoleContext, openRoleContext } from './role-context.ts'
import type { Role } from './role.ts'
import { runService } from './run-service.ts'

/**
 * The whole life of a process that runs one or more roles: settings from the environment, logs, one connection to the
 * log, health endpoint, graceful stop. Settings that are wrong are listed on standard error, with exit status 2.
 */
export async function runPipelineService(
  name: string,
  startRoles: (context: RoleContext) => Promise<Role[]>,
): Promise<void> {
  let config
  try {
    config = parsePipelineConfig(process.env)
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    for (const problem of error.problems) process.stderr.write(`${name}: ${problem}\n`)
    process.exitCode = 2
    return
  }
  const { http, log } = config
  const logger = createLogger({ service: name, ...log })
  const settings = config
  await runService({
    name,
    logger,
    start: async (signal) => {
      const stack = new CloseStack()
      try {
        // First of all, so that a probe tells a process that waits (for NATS, for a host) from one that hangs.
        const metrics = createRegistry()
        let served: readonly Pick<Role, 'name' | 'notReady'>[] = [{ name, notReady: () => ['starting'] }]
        const health = await serveHealth({ ...http, roles: () => served, metrics: () => metrics.metrics() })
        stack.push(() => health.close())
        logger.info({ url: health.url }, 'serving health')
        if (process.connected) process.send?.({ healthUrl: health.url })
        const context = await openRoleContext(settings, { name, logger, signal, metrics })
        stack.push(() => context.close())
        const roles = await startRoles(context)
        for (const role of roles) stack.push(() => role.close())
        served = roles
        return { roles, close: () => stack.close() }
      } catch (error) {
        await stack.close()
        throw error
      }
    },
  })
}
