import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { type Spawned, startScript } from '../harness/process.ts'

/** An embedded API server in a process of its own that can be killed and started again where it was. */
export type ApiServer = {
  /** Kubeconfigs by cluster. */
  readonly kubeconfigs: Record<string, string>
  signal(signal: 'SIGSTOP' | 'SIGCONT'): void
  kill(): Promise<void>
  start(): Promise<void>
  close(): Promise<void>
}

/** @param clusters as `--clusters` takes them */
export async function startApiServer(folder: string, clusters: readonly string[]): Promise<ApiServer> {
  const data = join(folder, 'data')
  mkdirSync(data, { recursive: true })
  let port = 0
  let kubeconfigs: Record<string, string> = {}
  let running: Spawned
  const start = async (): Promise<void> => {
    const args = ['--data-dir', data, '--clusters', clusters.join(','), '--port', String(port), '--log-level', 'warn']
    running = startScript('services/apiserver/main.ts', args)
    const ready = JSON.parse(await running.firstLine) as { port: number; kubeconfigs: Record<string, string> }
    port = ready.port
    kubeconfigs = ready.kubeconfigs
  }
  await start()
  return {
    get kubeconfigs() {
      return kubeconfigs
    },
    signal: (signal) => void process.kill(running.pid, signal),
    kill: async () => void (await running.end('SIGKILL')),
    start,
    close: async () => {
      await running.end('SIGKILL')
    },
  }
}
