import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type NatsServer, startNatsServer } from '../nats-server.ts'

/** A nats-server for a test, on a port of its own and with an empty store. */
export type TestNats = {
  /** The same for the whole life, through restarts. */
  readonly url: string
  readonly port: number
  readonly dataDir: string
  /** Ends the server as a power button would end the process: without a word to clients or disk. */
  kill(): Promise<void>
  /** Starts it again on the same port and store. */
  restart(): Promise<void>
  /** Stops it and removes the store. */
  stop(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/** Starts a nats-server for a test. Data goes to disk when the system sees fit, which survives a kill of the process. */
export async function startTestNats(options: { syncInterval?: string } = {}): Promise<TestNats> {
  const dataDir = mkdtempSync(join(tmpdir(), 'causeway-nats-'))
  const start = (port: number): Promise<NatsServer> =>
    startNatsServer({ dataDir, port, syncInterval: options.syncInterval ?? '2m' })
  let server = await start(0)
  const { port, url } = server
  const kill = async (): Promise<void> => {
    if (server.process.exitCode !== null || server.process.signalCode !== null) return
    server.process.kill('SIGKILL')
    await once(server.process, 'exit')
  }
  const stop = async (): Promise<void> => {
    await kill()
    rmSync(dataDir, { recursive: true, force: true })
  }
  return {
    url,
    port,
    dataDir,
    kill,
    stop,
    restart: async () => {
      await kill()
      server = await start(port)
    },
    [Symbol.asyncDispose]: stop,
  }
}
