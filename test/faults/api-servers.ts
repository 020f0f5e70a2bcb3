import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { type Spawned, startScript } from '../harness/process.ts'

/** An embedded API server in a process of its own that can be killed and started again where it was. */
export type ApiServer = {
  /** Kubeconfigs by cluster. */
  readonly kubeconfigs: Record<string, string>
  signal(signal: 'SIGSTOP' | 'SIGCONT'): void
  kill(): Promise<void>
  /** Starts it again, once it was asked for as often as it was killed. */
  start(): Promise<void>
  close(): Promise<void>
}

/** @param clusters as `--clusters` takes them */
export async function startApiServer(folder: string, clusters: readonly string[]): Promise<ApiServer> {
  const data = join(folder, 'data')
  mkdirSync(data, { recursive: true })
  let port = 0
  let kubeconfigs: Record<string, string> = {}
  let running: Spawned | undefined
  /** How many want it dead: kills may overlap. */
  let kills = 0
  const start = async (): Promise<void> => {
    const args = ['--data-dir', data, '--clusters', clusters.join(','), '--port', String(port), '--log-level', 'warn']
    const mine = startScript('services/apiserver/main.ts', args)
    running = mine
    const line = await mine.firstLine.catch((error: unknown) => {
      // Killed once more while it started: whoever did that starts it again.
      if (running !== mine) return undefined
      throw error
    })
    if (line === undefined) return
    const ready = JSON.parse(line) as { port: number; kubeconfigs: Record<string, string> }
    port = ready.port
    kubeconfigs = ready.kubeconfigs
  }
  const kill = async (): Promise<void> => {
    const dying = running
    running = undefined
    await dying?.end('SIGKILL')
  }
  await start()
  return {
    get kubeconfigs() {
      return kubeconfigs
    },
    signal: (signal) => {
      if (running === undefined) return
      try {
        process.kill(running.pid, signal)
      } catch {
        // It has just been killed.
      }
    },
    kill: () => {
      kills += 1
      return kill()
    },
    start: async () => {
      kills -= 1
      if (kills === 0) await start()
    },
    close: kill,
  }
}
