import { request } from 'node:https'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Bus, connectBus } from '#libs/bus'
import { CausewayError, systemClock } from '#libs/kernel'
import { type KubeClient, createKubeClient } from '#libs/kube'
import { type TenantRegistry, lazyClusterConfig, openTenantRegistry } from '#libs/runtime'
import type { Terminal } from '../output/terminal.ts'
import type { DataFolder, RunningInfo } from '../up/data-folder.ts'

/** What every command on a running installation gets. */
export type CommandOptions = { folder: DataFolder; terminal: Terminal; json: boolean; signal: AbortSignal }

/** A running installation, as a command sees it. */
export type Running = { info: RunningInfo; bus: Bus; registry: TenantRegistry; host: KubeClient }

/**
 * Connects to what `causeway up` runs on a folder, for the time of `use`.
 * @throws CausewayError `NotRunning` when nothing runs there
 */
export async function withRunning<T>(options: CommandOptions, use: (running: Running) => Promise<T>): Promise<T> {
  const info = options.folder.running()
  if (info === undefined) {
    throw new CausewayError(
      `nothing runs on ${options.folder.root}: start it with "causeway up", or name its folder with --data`,
      {
        code: 'NotRunning',
      },
    )
  }
  const bus = await connectBus({ servers: info.natsUrl, name: 'cli', signal: options.signal, connectTimeoutMs: 5_000 })
  const host = createKubeClient(lazyClusterConfig(info.hostKubeconfig, systemClock))
  try {
    return await use({ info, bus, registry: await openTenantRegistry(bus, info.replicas), host })
  } finally {
    await host.close()
    await bus.close()
  }
}

/**
 * Makes or removes a cluster of the embedded API server.
 * @returns whether it was there, for DELETE
 * @throws CausewayError `NoApiserver`, or `ApiserverRefused` with its answer
 */
export async function changeCluster(
  running: Running,
  folder: DataFolder,
  change: { method: 'PUT' | 'DELETE'; name: string; body?: object },
): Promise<boolean> {
  const { apiserverUrl } = running.info
  if (apiserverUrl === undefined) {
    throw new CausewayError('no embedded API server runs here: give the tenant’s cluster with --kubeconfig', {
      code: 'NoApiserver',
    })
  }
  const { statusCode, text } = await send(`${apiserverUrl}/causeway/clusters/${change.name}`, {
    method: change.method,
    token: folder.apiserverAdminToken(),
    ca: readFileSync(join(folder.apiserver, 'tls', 'ca.crt')),
    body: change.body === undefined ? '' : JSON.stringify(change.body),
  })
  if (change.method === 'DELETE' && statusCode === 404) return false
  if (statusCode === 200) return true
  throw new CausewayError(`the embedded API server refused (${statusCode}): ${text}`, { code: 'ApiserverRefused' })
}

function send(
  url: string,
  options: { method: string; token: string; ca: Buffer; body: string },
): Promise<{ statusCode: number; text: string }> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${options.token}`, 'content-type': 'application/json' }
    const call = request(url, { method: options.method, ca: options.ca, headers, timeout: 10_000 }, (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (chunk: string) => {
        text += chunk
      })
      response.on('end', () => resolve({ statusCode: response.statusCode ?? 0, text }))
    })
    call.on('timeout', () => call.destroy(new Error(`no answer from ${url}`)))
    call.on('error', reject)
    call.end(options.body)
  })
}
