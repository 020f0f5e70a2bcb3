import { type NatsServer, startNatsServer } from '#libs/bus'
import type { Clock } from '#libs/kernel'
import { keepRunning } from './keep-running.ts'

export type NatsProcess = {
  readonly url: string
  readonly pid: number | undefined
  stop(): Promise<void>
}

/** Starts a nats-server on a folder, and again on the same port whenever it dies. @throws BusError when the first start fails */
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
  return {
    get url() {
      return kept.current.url
    },
    get pid() {
      return kept.current.process.pid
    },
    stop: () => kept.stop(),
  }
}
