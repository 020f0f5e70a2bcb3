import { mkdtempSync, rmSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Bus, connectBus, createPublisher, ensureStreams, openLeases, startNatsServer } from '#libs/bus'
import { STREAMS, encodeChange, encodePayload, partitionOf, streamDeclarations } from '#libs/events'
import { systemClock } from '#libs/kernel'
import type { ObjectKey } from '#libs/kube-model'
import { CloseStack, openTenantRegistry } from '#libs/runtime'
import { startNode, stop } from './launch.ts'
import { until } from './pod-watch.ts'
import { type Usage, readUsage, usageBetween } from './processes.ts'
import { median } from './statistics.ts'
import { podOf } from './synthetic-log.ts'
import { table } from './table.ts'

/** One log translated by so many processes. */
export type TranslatorsRun = { translators: number; intents: number; seconds: number; usage: Record<string, Usage> }

const NUMBERS = [1, 2]
const PARTITIONS = 16
const TENANTS_EACH = 4
const OWNER = 'bench'
const ASK_EVERY_MS = 50
const TIMEOUT_MS = 600_000

/**
 * How fast one translator works through a log that is there already, and how fast two do: no API server, watcher or
 * writer takes part. The bench holds the leases until all translators are there, so that none has a start.
 */
export async function translators(of: {
  pods: number
  repeat: number
  progress: (line: string) => void
}): Promise<TranslatorsRun[]> {
  const runs: TranslatorsRun[] = []
  for (let number = 0; number < of.repeat; number++) {
    for (const translators of NUMBERS) {
      of.progress(`${number + 1}/${of.repeat}: ${translators}`)
      runs.push(await translateOnce(translators, of.pods))
    }
  }
  return runs
}

async function translateOnce(translators: number, pods: number): Promise<TranslatorsRun> {
  const stack = new CloseStack()
  const folder = mkdtempSync(join(tmpdir(), 'causeway-bench-'))
  stack.push(() => Promise.resolve(rmSync(folder, { recursive: true, force: true, maxRetries: 5 })))
  try {
    const server = await startNatsServer({ dataDir: join(folder, 'nats'), port: 0, syncInterval: '2m' })
    stack.push(() => server.stop())
    const bus = await connectBus({ servers: server.url, name: 'bench' })
    stack.push(() => bus.close())
    await ensureStreams(bus, streamDeclarations())
    const tenants = await registerTenants(bus, folder)
    await fillChanges(bus, tenants, pods)
    const leases = await openLeases(bus, { owner: OWNER })
    const partitions = Array.from({ length: PARTITIONS }, (_, partition) => partition)
    const held = await Promise.all(partitions.map((partition) => leases.acquire(`translator.${partition}`)))
    const pids: Record<string, number> = { nats: server.process.pid ?? 0 }
    for (let number = 1; number <= translators; number++) {
      const child = startNode('translator/main.ts', [], {
        cpuProfDir: undefined,
        env: settings(server.url, { folder, number }),
      })
      child.stdout?.resume()
      stack.push(() => stop(child))
      pids[`translator ${number}`] = child.pid ?? 0
    }
    for await (const members of leases.watchMembers('translator')) if (members.length === translators) break
    const before = readUsage(pids)
    const begun = performance.now()
    await Promise.all(held.map(async (lease) => lease?.release()))
    await intentsAre(bus, pods)
    const seconds = (performance.now() - begun) / 1_000
    const usage = Object.fromEntries(usageBetween(before, readUsage(pids)))
    return { translators, intents: pods, seconds, usage }
  } finally {
    await stack.close()
  }
}

function settings(natsUrl: string, of: { folder: string; number: number }): Record<string, string> {
  return {
    CAUSEWAY_NATS_URL: natsUrl,
    CAUSEWAY_PARTITIONS: String(PARTITIONS),
    CAUSEWAY_DATA_DIR: join(of.folder, `translator-${of.number}`),
    CAUSEWAY_KEY_RING_FILE: join(of.folder, 'keys.json'),
    CAUSEWAY_INSTANCE: `translator-${of.number}`,
  }
}

/** As many in each partition: it is not their hashes that are measured. */
async function registerTenants(bus: Bus, folder: string): Promise<string[]> {
  const registry = await openTenantRegistry(bus, 1)
  await registry.setHost({ kubeconfig: join(folder, 'none') })
  const perPartition = new Map<number, number>()
  const tenants: string[] = []
  for (let number = 1; tenants.length < PARTITIONS * TENANTS_EACH; number++) {
    const name = `t${number}`
    const partition = partitionOf(name, PARTITIONS)
    const there = perPartition.get(partition) ?? 0
    if (there === TENANTS_EACH) continue
    perPartition.set(partition, there + 1)
    tenants.push(name)
    await registry.put({
      name,
      uid: `uid-${name}`,
      hostNamespace: `causeway-${name}`,
      kubeconfig: join(folder, 'none'),
    })
  }
  return tenants
}

/** Pods that the tenants have made, in turn, and nothing else. */
async function fillChanges(bus: Bus, tenants: readonly string[], pods: number): Promise<void> {
  const publisher = createPublisher(bus)
  try {
    for (let index = 0; index < pods; index++) {
      const tenant = tenants[index % tenants.length] ?? ''
      const key: ObjectKey = { tenant, side: 'virtual', resource: 'pods', namespace: 'default', name: `web-${index}` }
      const uid = `pod-${index}`
      const object = podOf(key, uid, 'Pending')
      const change = {
        type: 'ADDED',
        key,
        kind: 'Pod',
        uid,
        resourceVersion: String(index + 1),
        epoch: 1,
        observedAt: systemClock.now(),
        owner: `uid-${tenant}`,
      } as const
      await publisher.ready()
      const partition = partitionOf(tenant, PARTITIONS)
      const payload = encodePayload({ type: 'ADDED', object })
      // What is refused fails the flush below, by the connection's end.
      void publisher.publish(encodeChange(change, { partition, payload })).catch(() => undefined)
    }
    await publisher.flush()
  } finally {
    publisher.close()
  }
}

async function intentsAre(bus: Bus, wanted: number): Promise<void> {
  let intents = 0
  const ask = setInterval(() => {
    void bus.manager.streams.info(STREAMS.intents).then(({ state }) => {
      intents = state.last_seq
    })
  }, ASK_EVERY_MS)
  try {
    const state = (): string => `${intents} are there`
    await until(() => intents >= wanted, { what: `${wanted} intents`, timeoutMs: TIMEOUT_MS, state })
  } finally {
    clearInterval(ask)
  }
}

export function reportTranslators(runs: readonly TranslatorsRun[]): string {
  const rate = (run: TranslatorsRun): number => run.intents / run.seconds
  const rows = NUMBERS.map((number) => {
    const own = runs.filter(({ translators }) => translators === number)
    const cpu = (run: TranslatorsRun, isOurs: boolean): number =>
      Object.entries(run.usage).reduce(
        (sum, [name, { cpuSeconds }]) => sum + ((name !== 'nats') === isOurs ? cpuSeconds : 0),
        0,
      )
    const micros = (isOurs: boolean): number => median(own.map((run) => (cpu(run, isOurs) * 1_000_000) / run.intents))
    return [number, Math.round(median(own.map(rate))), micros(true), micros(false)]
  })
  const [one, two] = rows
  const times = ((two?.[1] ?? 0) / (one?.[1] ?? 1)).toFixed(2)
  const head = ['translators', 'intents/s', 'CPU µs/intent', 'NATS']
  return `${table(head, rows)}\n\ntwo over one: ${times} times, on ${cpus().length} cores`
}
