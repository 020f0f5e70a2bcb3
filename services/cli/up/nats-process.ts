import { type NatsServer, startNatsServer } from '#libs/bus'
import { type Clock, backoffDelay, errorMessage } from '#libs/kernel'

export type NatsProcess = {
  readonly url: string
  readonly pid: number | undefined
  stop(): Promise<void>
}

const RESTART = { baseMs: 100, capMs: 5_000 }

/** Starts a nats-server on a folder, and again on the same port whenever it dies. @throws BusError when the first start fails */
export async function startNatsProcess(options: {
  dataDir: string
  port: number
  clock: Clock
  /** Told of every end that was not asked for, and of what came of the restart. */
  onRestart: (why: string) => void
}): Promise<NatsProcess> {
  const { dataDir, port, clock, onRestart } = options
  const stopping = new AbortController()
  let server: NatsServer = await startNatsServer({ dataDir, port })
  const supervise = async (): Promise<void> => {
    for (let failures = 0; !stopping.signal.aborted;) {
      const { code, signal } = await server.exited
      if (stopping.signal.aborted) return
      onRestart(`nats-server ended (${signal ?? `status ${code}`}); starting it again`)
      try {
        await clock.sleep(
          backoffDelay(RESTART, failures, () => 1),
          stopping.signal,
        )
        server = await startNatsServer({ dataDir, port })
        failures = 0
        onRestart('nats-server runs again')
      } catch (error) {
        failures++
        if (!stopping.signal.aborted) onRestart(`nats-server could not be started: ${errorMessage(error)}`)
      }
    }
  }
  const supervision = supervise()
  return {
    url: server.url,
    get pid() {
      return server.process.pid
    },
    stop: async () => {
      stopping.abort(new Error('stopping'))
      await server.stop()
      await supervision
    },
  }
}
