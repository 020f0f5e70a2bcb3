import { errorMessage } from '#libs/kernel'
import type { Logger } from '#libs/telemetry'
import type { Role } from './role.ts'

/**
 * Runs until SIGTERM or SIGINT, then stops gracefully; a second signal exits at once. Exit status 0 after a graceful
 * stop, 1 when the service failed: whoever started the process starts it again, and it goes on from what is stored.
 */
export async function runService(options: {
  name: string
  logger: Logger
  start(signal: AbortSignal): Promise<{ roles: readonly Role[]; close(): Promise<void> }>
}): Promise<void> {
  const { logger } = options
  const stop = new AbortController()
  const onSignal = (signal: NodeJS.Signals): void => {
    if (stop.signal.aborted) process.exit(1)
    logger.info({ signal }, 'stopping')
    stop.abort(new Error(`received ${signal}`))
  }
  process.on('SIGTERM', onSignal)
  process.on('SIGINT', onSignal)
  // Started by another process over a channel: when that process is gone, so is the reason to run.
  process.channel?.unref()
  process.once('disconnect', () => {
    if (!stop.signal.aborted) onSignal('SIGTERM')
  })
  process.on('unhandledRejection', (error) => {
    logger.fatal({ err: error }, 'unhandled rejection')
    process.exit(1)
  })
  try {
    const running = await options.start(stop.signal)
    logger.info({ roles: running.roles.map((role) => role.name) }, 'started')
    const stopped = new Promise<void>((resolve) => {
      stop.signal.addEventListener('abort', () => resolve(), { once: true })
      if (stop.signal.aborted) resolve()
    })
    await Promise.race([stopped, ...running.roles.map((role) => role.done)])
    if (!stop.signal.aborted) throw new Error('a role ended by itself')
    await running.close()
    logger.info('stopped')
  } catch (error) {
    if (stop.signal.aborted) {
      logger.info({ reason: errorMessage(error) }, 'stopped')
    } else {
      logger.fatal({ err: error }, 'failed')
      process.stderr.write(`${options.name}: ${errorMessage(error)}\n`)
      process.exitCode = 1
    }
  }
  process.off('SIGTERM', onSignal)
  process.off('SIGINT', onSignal)
}
