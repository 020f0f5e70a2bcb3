import { type Role, type RoleContext, openTenantRegistry } from '#libs/runtime'
import { fleetRoutes } from './api/fleet-routes.ts'
import { objectRoutes, sourcesOf } from './api/object-routes.ts'
import type { ConsoleContext } from './api/console-context.ts'
import { FleetState } from './fleet/fleet-state.ts'
import { serveConsole } from './http/server.ts'
import { createConsoleMetrics } from './metrics.ts'
import { Moments } from './objects/as-of.ts'
import type { ConsoleOptions } from './options.ts'

export type ConsoleRole = Role & {
  /** Where a browser finds it. */
  readonly url: string
}

/**
 * Serves the console. It follows nothing until somebody looks: the log has what came before.
 * @throws CausewayError `PortTaken`
 */
export async function startConsole(
  context: Pick<RoleContext, 'bus' | 'config' | 'clock' | 'logger' | 'vault' | 'directory' | 'metrics'>,
  options: ConsoleOptions,
): Promise<ConsoleRole> {
  const { bus, vault, clock, directory, config } = context
  const { partitions, replicas } = config
  const logger = context.logger.child({ component: 'console' })
  const stopping = new AbortController()
  let fleet: Promise<FleetState> | undefined
  const openFleet = (): Promise<FleetState> => {
    fleet ??= FleetState.open({
      bus,
      directory,
      partitions,
      replicas,
      isOperator: options.operatorToken !== undefined,
      clock,
      logger,
      signal: stopping.signal,
    }).catch((error: unknown) => {
      fleet = undefined
      throw error
    })
    return fleet
  }
  const answers: ConsoleContext = {
    bus,
    vault,
    clock,
    partitions,
    replicas,
    directory,
    fleet: openFleet,
    moments: new Moments(bus),
  }
  const sources = sourcesOf(answers, await openTenantRegistry(bus, replicas))
  const server = await serveConsole({
    ...options,
    routes: [...fleetRoutes(answers), ...objectRoutes(answers, sources)],
    logger,
    metrics: createConsoleMetrics(context.metrics),
  })
  logger.info({ url: server.url, operator: options.operatorToken !== undefined }, 'serving the console')
  const ended = Promise.withResolvers<void>()
  return {
    name: 'console',
    url: server.url,
    notReady: () => (bus.isConnected() ? [] : ['not connected to NATS']),
    done: ended.promise,
    close: async () => {
      stopping.abort()
      await server.close()
      ended.resolve()
    },
  }
}
