import { rmSync } from 'node:fs'
import { newFolder } from './installation.ts'
import { type Spawned, startScript } from './process.ts'

/** Clusters that live apart from Causeway: real ones, or an API server of our own in a process of its own. */
export type Clusters = {
  hostKubeconfig: string
  /** By tenant name, at least two. */
  tenants: Record<string, string>
  /** The process of the API server; absent for real clusters. */
  apiserver?: Spawned
  stop(): Promise<void>
}

/** Clusters given by the environment, for runs of the same tests against real ones. */
export function givenClusters(env: NodeJS.ProcessEnv = process.env): Omit<Clusters, 'stop'> | undefined {
  const hostKubeconfig = env['CAUSEWAY_E2E_HOST_KUBECONFIG']
  const list = env['CAUSEWAY_E2E_TENANT_KUBECONFIGS']
  if (hostKubeconfig === undefined && list === undefined) return undefined
  const tenants = Object.fromEntries((list ?? '').split(',').map((entry) => entry.split('=') as [string, string]))
  if (hostKubeconfig === undefined || Object.keys(tenants).length < 2) {
    throw new Error(
      'set CAUSEWAY_E2E_HOST_KUBECONFIG=PATH and CAUSEWAY_E2E_TENANT_KUBECONFIGS=NAME=PATH,NAME=PATH, or neither',
    )
  }
  return { hostKubeconfig, tenants }
}

/**
 * Opens the given clusters, or starts an API server with a host and two tenants. Simulated nodes run the host's pods;
 * set CAUSEWAY_E2E_SIMULATED_NODES=0 for a host with nodes of its own.
 */
export async function startClusters(): Promise<Clusters> {
  const given = givenClusters()
  const nodes = process.env['CAUSEWAY_E2E_SIMULATED_NODES'] ?? '3'
  const own = given === undefined ? await startApiserver() : undefined
  const clusters = given ?? own?.clusters
  if (clusters === undefined) throw new Error('no clusters')
  const args = ['--kubeconfig', clusters.hostKubeconfig, '--nodes', nodes]
  const simulated = nodes === '0' ? undefined : startScript('services/simulated-nodes/main.ts', args)
  await simulated?.firstLine
  return {
    ...clusters,
    stop: async () => {
      await simulated?.end('SIGTERM')
      await own?.apiserver.end('SIGTERM')
      if (own !== undefined) rmSync(own.folder, { recursive: true, force: true })
    },
  }
}

async function startApiserver(): Promise<{
  apiserver: Spawned
  folder: string
  clusters: Omit<Clusters, 'stop'>
}> {
  const folder = newFolder()
  const args = ['--data-dir', folder, '--clusters', 'host,a:open,b:open', '--log-level', 'warn']
  const apiserver = startScript('services/apiserver/main.ts', args)
  const { kubeconfigs } = JSON.parse(await apiserver.firstLine) as { kubeconfigs: Record<string, string> }
  const { host = '', ...tenants } = kubeconfigs
  return { apiserver, folder, clusters: { hostKubeconfig: host, tenants, apiserver } }
}
