import { errorMessage } from '#libs/kernel'
import type { Logger } from '#libs/telemetry'
import type { Role } from './role.ts'

/** What runs, and how to stop it in order. */
export type RunningService = { roles: readonly Role[]; close: () => Promise<void> }

/** How long a service that has failed may take to give back what it holds. */
const CLOSE_AFTER_FAILURE_MS = 10_000
/** How long something that was not closed may keep the process. */
const LINGER_MS = 1_000

/**
 * Runs until SIGTERM or SIGINT, then stops gracefully; a second signal exits at once. Exit status 0 after a graceful
 * stop, 1 when the service failed: whoever started the process starts it again, and it goes on from what is stored.
 */
export async function runService(options: {
  name: string
  logger: Logger
  start: (signal: AbortSignal) => Promise<RunningService>
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
  let running: RunningService | undefined
  try {
    running = await options.start(stop.signal)
    logger.info({ roles: running.roles.map((role) => role.name) }, 'started')
    await untilStopped(running, stop.signal)
    await running.close()
    logger.info('stopped')
  } catch (error) {
    if (stop.signal.aborted) {
      logger.info({ reason: errorMessage(error) }, 'stopped')
    } else {
      logger.fatal({ err: error }, 'failed')
      process.stderr.write(`${options.name}: ${errorMessage(error)}\n`)
      process.exitCode = 1
      stop.abort(error)
      if (running !== undefined) await closeInTime(running, logger)
    }
  }
  // Not waited for: ends the process only if something that is still open keeps it from ending by itself.
  setTimeout(() => process.exit(), LINGER_MS).unref()
}

/** @throws when a role ends before it was asked to */
async function untilStopped(running: RunningService, signal: AbortSignal): Promise<void> {
  const stopped = new Promise<void>((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true })
    if (signal.aborted) resolve()
  })
  await Promise.race([stopped, ...running.roles.map((role) => role.done)])
  if (!signal.aborted) throw new Error('a role ended by itself')
}

/** Gives back leases and the like, so that others need not wait for their end. */
async function closeInTime(running: RunningService, logger: Logger): Promise<void> {
  const inTime = new Promise<void>((resolve) => {
    setTimeout(resolve, CLOSE_AFTER_FAILURE_MS).unref()
  })
  const closed = running.close().catch((error: unknown) => logger.error({ err: error }, 'could not be closed in order'))
  await Promise.race([closed, inTime])
}
