import type { CloseStack } from '#libs/runtime'
import { newFolder } from './installation.ts'
import { firstLine, startNode, stop } from './launch.ts'
import type { BenchOptions } from './options.ts'

/** Clusters that live apart from the installation, so that this can be stopped without them. */
export type Clusters = Pick<BenchOptions, 'hostKubeconfig' | 'tenants' | 'processes'> & { hostKubeconfig: string }

/** The clusters that are given, or an embedded API server with a host and so many tenants. */
export async function openClusters(stack: CloseStack, options: BenchOptions, tenants: number): Promise<Clusters> {
  const { hostKubeconfig, processes } = options
  if (hostKubeconfig !== undefined && options.tenants.length > 0) {
    return { hostKubeconfig, tenants: options.tenants, processes }
  }
  const names = Array.from({ length: tenants }, (_, index) => `t${index + 1}`)
  const clusters = ['host', ...names.map((name) => `${name}:open`)].join(',')
  const args = ['--data-dir', newFolder(stack), '--clusters', clusters, '--log-level', 'warn']
  const apiserver = startNode('apiserver/main.ts', args, options)
  stack.push(() => stop(apiserver))
  const { kubeconfigs } = JSON.parse(await firstLine(apiserver)) as { kubeconfigs: Record<string, string> }
  return {
    hostKubeconfig: kubeconfigs['host'] ?? '',
    tenants: names.map((name) => ({ name, kubeconfig: kubeconfigs[name] ?? '' })),
    processes: { ...processes, ...(apiserver.pid === undefined ? {} : { apiserver: apiserver.pid }) },
  }
}
