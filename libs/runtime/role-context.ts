import { mkdirSync } from 'node:fs'
import { type Bus, connectBus, ensureStreams } from '#libs/bus'
import type { PipelineConfig } from '#libs/config'
import { streamDeclarations } from '#libs/events'
import { type Clock, systemClock } from '#libs/kernel'
import { type Logger, type Tracing, createRegistry, openTracing } from '#libs/telemetry'
import { type Vault, createVault, loadOrCreateKeyRing } from '#libs/vault'
import type { Registry } from 'prom-client'
import { giveBackAtRest } from './give-back.ts'
import { agreeOnInstallation } from './installation.ts'
import { type TenantDirectory, openTenantDirectory } from './tenant-directory.ts'

/** What every role of a process gets: one connection to the log, one directory, one set of metrics. */
export type RoleContext = {
  config: PipelineConfig
  logger: Logger
  clock: Clock
  random: () => number
  metrics: Registry
  tracing: Tracing
  bus: Bus
  directory: TenantDirectory
  vault: Vault
  /** Aborts when the process is to stop. Roles stop gracefully by `Role.close`; this ends what waits. */
  signal: AbortSignal
}

const TRACE_SLOW_MS = 5_000

/**
 * Connects to the log, makes sure that its streams are as declared, and opens what roles share.
 * @throws ConfigError, BusError with what to do
 */
export async function openRoleContext(
  config: PipelineConfig,
  options: { name: string; logger: Logger; signal: AbortSignal; metrics?: Registry },
): Promise<RoleContext & { close(): Promise<void> }> {
  const { logger, signal, metrics = createRegistry() } = options
  const tracing = await openTracing({
    env: process.env,
    registry: metrics,
    instance: config.instance,
    slowMs: config.traceSlowMs ?? TRACE_SLOW_MS,
  })
  mkdirSync(config.dataDir, { recursive: true })
  const vault = createVault(loadOrCreateKeyRing(config.keyRingFile))
  const bus = await connectBus({ servers: config.natsUrl, name: options.name, signal, stopping: signal })
  try {
    await agreeOnInstallation(bus, config)
    await ensureStreams(bus, streamDeclarations({ replicas: config.replicas }))
    const directory = await openTenantDirectory({ bus, replicas: config.replicas, clock: systemClock, logger, signal })
    const stopGivingBack = giveBackAtRest()
    return {
      config,
      logger,
      clock: systemClock,
      random: Math.random,
      metrics,
      tracing,
      bus,
      directory,
      vault,
      signal,
      close: async () => {
        stopGivingBack()
        await directory.close()
        await bus.close()
        await tracing.close()
      },
    }
  } catch (error) {
    await bus.close()
    throw error
  }
}
