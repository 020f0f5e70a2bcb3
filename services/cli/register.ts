import { connectBus, ensureStreams } from '#libs/bus'
import { streamDeclarations } from '#libs/events'
import { ConfigError, systemClock } from '#libs/kernel'
import { createKubeClient } from '#libs/kube'
import { lazyClusterConfig } from '#libs/runtime'
import type { Terminal } from './output/terminal.ts'
import { planUp } from './up/plan.ts'
import { registerAll } from './up/register.ts'

/**
 * Registers host and tenants with the services that read from a NATS; their host namespaces are made where they are
 * missing. Running it again changes nothing.
 * @throws ConfigError, BusError, KubeApiError
 */
export async function register(options: {
  natsUrl: string
  hostKubeconfig: string
  tenant: readonly string[]
  replicas: number
  terminal: Terminal
  signal: AbortSignal
}): Promise<number> {
  const { natsUrl, hostKubeconfig, replicas, terminal, signal } = options
  const plan = planUp({ hostKubeconfig, tenants: options.tenant })
  const incomplete = options.tenant.length === 0 ? [] : plan.tenants.filter((tenant) => tenant.kubeconfig === undefined)
  if (incomplete.length > 0) {
    throw new ConfigError(incomplete.map(({ name }) => `--tenant ${name}: needs a kubeconfig, NAME=KUBECONFIG`))
  }
  const bus = await connectBus({ servers: natsUrl, name: 'cli', signal, connectTimeoutMs: 60_000 })
  const hostClient = createKubeClient(lazyClusterConfig(hostKubeconfig, systemClock))
  try {
    await ensureStreams(bus, streamDeclarations({ replicas }))
    const tenants = await registerAll({
      bus,
      replicas,
      hostClient,
      hostKubeconfig,
      plan: options.tenant.length === 0 ? { ...plan, tenants: [] } : plan,
      explicit: options.tenant.length > 0,
    })
    terminal.print(
      `registered: host ${hostKubeconfig}, tenants ${tenants.map(({ name }) => name).join(', ') || 'none'}`,
    )
    return 0
  } finally {
    await hostClient.close()
    await bus.close()
  }
}
