import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { jetstreamManager } from '@nats-io/jetstream'
import { type Bus, connectBus, ensureStreams, readOrdered } from '#libs/bus'
import { startTestNats } from '#libs/bus/testing'
import { type PipelineConfig, pipelineEnv } from '#libs/config'
import { HEADERS, type LoggedChange, decodeChange, streamDeclarations } from '#libs/events'
import { systemClock } from '#libs/kernel'
import { type KubeClient, createKubeClient, loadClusterConfig } from '#libs/kube'
import type { FakeApiServer } from '#libs/kube/testing'
import { type RoleContext, openRoleContext, openTenantRegistry } from '#libs/runtime'
import { createLogger } from '#libs/telemetry'
import { startApiserver } from '../../services/apiserver/role.ts'
import { type WatcherRole, startWatcher } from '../../services/watcher/role.ts'

/** A change of the log with its message id and payload. */
export type StoredMessage = LoggedChange & { id: string; text: string }

/** A log, clusters, and a registry; watchers are started by the tests. */
export type WatcherFixture = Awaited<ReturnType<typeof startFixture>>

export async function startFixture(clusters: string[], options: { leaseTtlMs?: number } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'causeway-watcher-'))
  const nats = await startTestNats()
  const logger = createLogger({ service: 'test', level: process.env['TEST_LOG_LEVEL'] ?? 'silent' })
  const apiserver = await startApiserver({
    dataDir: join(folder, 'apiserver'),
    clusters: Object.fromEntries(clusters.map((name) => [name, { controllers: false }])),
    logger,
  })
  const connection = await connectBus({ servers: nats.url, name: 'test' })
  // A server that has just started may swallow requests: better asked again soon.
  const bus: Bus = { ...connection, manager: await jetstreamManager(connection.nats, { timeout: 1_000 }) }
  await ensureStreams(bus, streamDeclarations())
  const registry = await openTenantRegistry(bus, 1)
  const clients: KubeClient[] = []
  const running = new Set<{ close(): Promise<void> }>()
  const children = new Set<ChildProcess>()

  const config = (instance: string): PipelineConfig => ({
    natsUrl: nats.url,
    partitions: 2,
    replicas: 1,
    dataDir: join(folder, 'services'),
    keyRingFile: join(folder, 'keys.json'),
    instance,
    leaseTtlMs: options.leaseTtlMs ?? 1_000,
    http: { host: '127.0.0.1', port: 0 },
    log: { level: 'warn' },
  })
  const client = async (cluster: string): Promise<KubeClient> => {
    const path = apiserver.kubeconfigFile(cluster)
    const created = createKubeClient(await loadClusterConfig({ path, env: {}, clock: systemClock }))
    clients.push(created)
    return created
  }
  const watcher = async (
    instance = 'w1',
    more: Partial<PipelineConfig> = {},
  ): Promise<{ role: WatcherRole; context: RoleContext; close(): Promise<void> }> => {
    const stop = new AbortController()
    const context = await openRoleContext(
      { ...config(instance), ...more },
      { name: instance, logger, signal: stop.signal },
    )
    const role = await startWatcher(context)
    role.done.catch(() => undefined)
    const handle = {
      role,
      context,
      close: async () => {
        running.delete(handle)
        await role.close()
        await context.close()
      },
    }
    running.add(handle)
    return handle
  }
  return {
    folder,
    nats,
    bus,
    apiserver,
    registry,
    client,
    watcher,
    config,
    /** A watcher as a process of its own, to be killed. */
    watcherProcess: (instance: string) => {
      const child = spawn(process.execPath, ['services/watcher/main.ts'], {
        env: { ...process.env, ...pipelineEnv(config(instance)), CAUSEWAY_INSTANCE: instance },
        stdio: ['ignore', 'ignore', 'inherit'],
      })
      children.add(child)
      return {
        kill: async () => {
          child.kill('SIGKILL')
          if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
          children.delete(child)
        },
      }
    },
    register: async (name: string, kubeconfig = apiserver.kubeconfigFile(name), uid = `uid-${name}`) => {
      await registry.put({ name, uid, hostNamespace: `causeway-${name}`, kubeconfig })
    },
    changes: () => readChanges(bus),
    close: async () => {
      for (const child of children) child.kill('SIGKILL')
      for (const each of running) await each.close()
      for (const each of clients) await each.close()
      await bus.close()
      await apiserver.close()
      await nats.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** All there is in CHANGES, in order. */
async function readChanges(bus: Bus): Promise<StoredMessage[]> {
  const { state } = await bus.manager.streams.info('CHANGES')
  const changes: StoredMessage[] = []
  if (state.messages === 0) return changes
  for await (const batch of readOrdered(bus, { stream: 'CHANGES', startSeq: 1 })) {
    for (const message of batch) {
      const text = Buffer.from(message.payload).toString('utf8')
      changes.push({ ...decodeChange(message), id: message.headers[HEADERS.msgId] ?? '', text })
    }
    if ((batch.at(-1)?.seq ?? 0) >= state.last_seq) break
  }
  return changes
}

/** Registers a tenant whose API a script plays. */
export async function registerFake(fixture: WatcherFixture, tenant: string, fake: FakeApiServer): Promise<void> {
  const kubeconfig = join(fixture.folder, `${tenant}.yaml`)
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'fake', cluster: { server: fake.url } }],
    users: [{ name: 'fake', user: { token: 'secret-token' } }],
    contexts: [{ name: 'fake', context: { cluster: 'fake', user: 'fake' } }],
    'current-context': 'fake',
  }
  writeFileSync(kubeconfig, JSON.stringify(config))
  await fixture.register(tenant, kubeconfig)
}
