import { join } from 'node:path'
import { type NatsServer, startNatsServer } from '#libs/bus'
import type { Clock } from '#libs/kernel'
import { keepRunning } from './keep-running.ts'
import { createStuckStoreCheck } from './stuck-store.ts'

export type NatsProcess = {
  readonly url: string
  readonly pid: number | undefined
  stop(): Promise<void>
}

const LOOK_EVERY_MS = 2_000

/**
 * Starts a nats-server on a folder, and again on the same port whenever it dies, or when it has given up its store for a
 * disk that was full.
 * @throws BusError when the first start fails
 */
export async function startNatsProcess(options: {
  dataDir: string
  port: number
  clock: Clock
  /** Told of every end that was not asked for, and of what came of the restart. */
  onRestart: (why: string) => void
}): Promise<NatsProcess> {
  const { dataDir, port, clock, onRestart } = options
  const kept = await keepRunning<NatsServer>({
    name: 'nats-server',
    clock,
    start: () => startNatsServer({ dataDir, port }),
    exited: async (server) => {
      const { code, signal } = await server.exited
      return signal ?? `status ${code}`
    },
    stop: async (server) => {
      await server.stop()
    },
    onRestart,
  })
  const newCheck = (): (() => boolean) =>
    createStuckStoreCheck({ logFile: kept.current.logFile, storeDir: join(dataDir, 'jetstream') })
  let isStoreStuck = newCheck()
  const look = setInterval(() => {
    if (!isStoreStuck()) return
    onRestart('nats-server has given up its store although there is room on the disk; ending it')
    isStoreStuck = newCheck()
    void kept.current.stop()
  }, LOOK_EVERY_MS)
  return {
    get url() {
      return kept.current.url
    },
    get pid() {
      return kept.current.process.pid
    },
    stop: () => {
      clearInterval(look)
      return kept.stop()
    },
  }
}
