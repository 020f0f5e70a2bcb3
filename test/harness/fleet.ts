import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Bus, connectBus, ensureStreams } from '#libs/bus'
import { type TestNats, startTestNats } from '#libs/bus/testing'
import { pipelineEnv } from '#libs/config'
import { streamDeclarations } from '#libs/events'
import { openTenantRegistry } from '#libs/runtime'
import { type Cluster, openCluster } from './cluster.ts'
import { newFolder } from './installation.ts'
import { type Spawned, isAlive, startScript } from './process.ts'

export type RoleName = 'watcher' | 'translator' | 'writer'

/** One process that runs one role. */
export type Member = {
  readonly instance: string
  readonly process: Spawned
  signal(signal: 'SIGKILL' | 'SIGTERM' | 'SIGSTOP' | 'SIGCONT'): void
  /** Resolves when it is ready to do its share. */
  ready(): Promise<void>
}

export type FleetOptions = {
  tenants: readonly string[]
  partitions: number
  leaseTtlMs: number
  /** Configuration of every tenant. */
  config: Record<string, unknown>
}

/** A log, an API server with light clusters, and as many processes of each role as a test starts. */
export type Fleet = {
  readonly bus: Bus
  readonly nats: TestNats
  readonly host: Cluster
  hostNamespace(tenant: string): string
  /** Connects to a tenant's cluster; closed with the fleet. */
  tenant(name: string): Promise<Cluster>
  start(role: RoleName, instance: string): Promise<Member>
  close(): Promise<void>
}

/** Starts all but the roles. */
export async function startFleet(options: FleetOptions): Promise<Fleet> {
  const folder = newFolder()
  const cleanups: (() => Promise<unknown> | void)[] = [
    () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }),
  ]
  const close = async (): Promise<void> => {
    for (const cleanup of cleanups.splice(0).toReversed()) await cleanup()
  }
  try {
    const nats = await startTestNats()
    cleanups.push(() => nats.stop())
    const { apiserver, kubeconfigs } = await startApiserver(join(folder, 'apiserver'), options.tenants)
    cleanups.push(() => apiserver.end('SIGTERM'))
    const bus = await connectBus({ servers: nats.url, name: 'test' })
    cleanups.push(() => bus.close())
    await ensureStreams(bus, streamDeclarations())
    const open = async (cluster: string): Promise<Cluster> => {
      const opened = await openCluster(kubeconfigs[cluster] ?? '')
      cleanups.push(() => opened.close())
      return opened
    }
    const host = await open('host')
    await register({ bus, host, kubeconfigs }, options)
    return {
      bus,
      nats,
      host,
      hostNamespace,
      tenant: open,
      start: async (role, instance) => {
        const member = await startMember(role, { instance, natsUrl: nats.url, folder, ...options })
        cleanups.push(() => {
          // A process that is stopped takes no other signal.
          if (isAlive(member.process.pid)) member.signal('SIGCONT')
          return member.process.end('SIGKILL')
        })
        return member
      },
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

async function startApiserver(
  dataDir: string,
  tenants: readonly string[],
): Promise<{ apiserver: Spawned; kubeconfigs: Record<string, string> }> {
  mkdirSync(dataDir)
  const clusters = ['host', ...tenants].join(',')
  const args = ['--data-dir', dataDir, '--clusters', clusters, '--log-level', 'warn']
  const apiserver = startScript('services/apiserver/main.ts', args)
  const { kubeconfigs } = JSON.parse(await apiserver.firstLine) as { kubeconfigs: Record<string, string> }
  return { apiserver, kubeconfigs }
}

function hostNamespace(tenant: string): string {
  return `causeway-${tenant}`
}

async function register(
  { bus, host, kubeconfigs }: { bus: Bus; host: Cluster; kubeconfigs: Record<string, string> },
  { tenants, config }: FleetOptions,
): Promise<void> {
  const registry = await openTenantRegistry(bus, 1)
  await registry.setHost({ kubeconfig: kubeconfigs['host'] ?? '' })
  for (const name of tenants) {
    const namespace = hostNamespace(name)
    await host.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
    await registry.put({
      name,
      uid: `uid-${name}`,
      hostNamespace: namespace,
      kubeconfig: kubeconfigs[name] ?? '',
      config,
    })
  }
}

async function startMember(
  role: RoleName,
  of: { instance: string; natsUrl: string; folder: string; partitions: number; leaseTtlMs: number },
): Promise<Member> {
  const { instance, natsUrl, folder, partitions, leaseTtlMs } = of
  const env = pipelineEnv({
    natsUrl,
    partitions,
    leaseTtlMs,
    instance,
    replicas: 1,
    // As on machines of their own: what another has folded in is not there.
    dataDir: join(folder, instance),
    keyRingFile: join(folder, 'keys.json'),
    http: { host: '127.0.0.1', port: 0 },
    log: { level: 'info' },
  })
  const process = startScript(`services/${role}/main.ts`, [], { env: { ...env, CAUSEWAY_INSTANCE: instance } })
  const { url } = JSON.parse(await process.firstLine) as { url: string }
  return {
    instance,
    process,
    signal: (signal) => process.signal(signal),
    ready: async () => {
      for (let answer = ''; answer !== 'ok\n'; await sleep(50)) answer = await (await fetch(`${url}/readyz`)).text()
    },
  }
}
