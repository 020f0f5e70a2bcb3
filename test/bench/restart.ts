import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { systemClock } from '#libs/kernel'
import { RESOURCES } from '#libs/kube-model'
import { CloseStack } from '#libs/runtime'
import { type Clusters, openClusters } from './clusters.ts'
import { type Field, openField } from './field.ts'
import { type Installation, connect, newFolder, startInstallation, startNodes } from './installation.ts'
import type { BenchOptions } from './options.ts'
import { until } from './pod-watch.ts'
import { NAMESPACE, createPod, inParallel, present } from './pods.ts'
import { type Usage, readUsage } from './processes.ts'
import { tenantPlaces } from './regular.ts'
import { median } from './statistics.ts'
import { table } from './table.ts'

/** What is left of what the services keep on the machine. */
const WAYS = ['with local files', 'without local files'] as const
type Way = (typeof WAYS)[number]

/** One restart of watcher, translator, writer and NATS. */
export type RestartRun = {
  way: Way
  pods: number
  /** Until it says that it is ready, seconds. */
  ready: number
  /** Until what happened meanwhile is on the host: pods that changed, and one that is new. */
  caughtUp: number
  /** Until that new pod runs, as its tenant sees it. */
  running: number
  usage: Record<string, Usage>
}

/** Pods that change while all is down. */
const CHANGED = 20
const TIMEOUT_MS = 600_000

/**
 * Stops the installation, changes things in the tenant, and starts it again; API servers and nodes go on meanwhile. Each
 * way in turn.
 */
export async function restart(
  options: BenchOptions,
  of: { pods: number; repeat: number; progress: (line: string) => void },
): Promise<RestartRun[]> {
  const { pods, repeat, progress } = of
  const stack = new CloseStack()
  try {
    const clusters = await openClusters(stack, options, 1)
    const data = newFolder(stack)
    const { cpuProfDir } = options
    startNodes(stack, { host: clusters.hostKubeconfig, setup: { pods: pods + repeat * WAYS.length }, cpuProfDir })
    const start = (): Promise<Installation> =>
      startInstallation({ ...options, ...clusters }, { embedded: 0, pods: 0, data })
    let installation = await start()
    stack.push(() => installation.close())
    // Of its own connections, which outlive the installation.
    const field = await openField({
      ...installation,
      host: await connect(stack, clusters.hostKubeconfig),
      tenants: await tenantsOf(stack, clusters),
    })
    stack.push(() => field.close())
    progress(`making ${pods} pods`)
    await fill(field, pods)
    const runs: RestartRun[] = []
    for (let number = 0; number < repeat * WAYS.length; number++) {
      const way = present(WAYS[number % WAYS.length], 'a way')
      progress(`${Math.floor(number / WAYS.length) + 1}/${repeat}: ${way}`)
      await installation.close()
      if (way === 'without local files') removeProjections(data)
      const sign = await changeMeanwhile(field, number)
      const begun = systemClock.now()
      installation = await start()
      const ready = (systemClock.now() - begun) / 1_000
      await until(() => sign.left() === 0, {
        what: 'what happened meanwhile',
        timeoutMs: TIMEOUT_MS,
        state: () => `${sign.left()} are not on the host`,
      })
      const caughtUp = (sign.seenAt() - begun) / 1_000
      await until(() => sign.ranAt() !== undefined, { what: 'the new pod running', timeoutMs: TIMEOUT_MS })
      const running = ((sign.ranAt() ?? 0) - begun) / 1_000
      const usage = Object.fromEntries(readUsage(installation.pids))
      runs.push({ way, pods, ready, caughtUp, running, usage })
    }
    return runs
  } finally {
    await stack.close()
  }
}

async function tenantsOf(stack: CloseStack, { tenants }: Clusters): Promise<Installation['tenants']> {
  return Promise.all(tenants.map(async ({ name, kubeconfig }) => ({ name, client: await connect(stack, kubeconfig) })))
}

async function fill(field: Field, pods: number): Promise<void> {
  const { client, pods: watch } = present(field.tenants[0], 'a tenant')
  const names = Array.from({ length: pods }, (_, index) => `restart-${index}`)
  await inParallel(names, async (name) => void (await createPod(client, NAMESPACE, name)))
  await until(() => watch.running >= pods, {
    what: `${pods} running pods`,
    timeoutMs: TIMEOUT_MS,
    state: () => `${watch.running} run`,
  })
}

/** What the translators remember of the log. */
function removeProjections(data: string): void {
  const folder = join(data, 'services')
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    if (name.includes('projection-')) rmSync(join(folder, name))
  }
}

type Sign = { left(): number; seenAt(): number; ranAt(): number | undefined }

/** Changes some pods of the tenant and makes one. @returns how to see that the host has it all */
async function changeMeanwhile(field: Field, number: number): Promise<Sign> {
  const [place] = tenantPlaces(field)
  const { client, namespace, pods } = present(place, 'a tenant')
  const changed = [...pods.pods.keys()].filter((name) => name.startsWith('restart-')).slice(0, CHANGED)
  const before = new Map(changed.map((name) => [name, field.host.pods.get(name)?.changedAt ?? 0]))
  await inParallel(changed, async (name) => {
    const metadata = { annotations: { 'bench/restart': String(number) } }
    await client.patch(RESOURCES.pods, { namespace, name }, { metadata }, { type: 'merge' })
  })
  const made = `new-${number}`
  await createPod(client, namespace, made)
  const times = (): (number | undefined)[] => [
    field.host.pods.get(made)?.createdAt,
    ...changed.map((name) => {
      const at = field.host.pods.get(name)?.changedAt ?? 0
      return at > (before.get(name) ?? 0) ? at : undefined
    }),
  ]
  return {
    left: () => times().filter((at) => at === undefined).length,
    seenAt: () => Math.max(...times().map((at) => at ?? 0)),
    ranAt: () => pods.pods.get(made)?.runningAt,
  }
}

export function reportRestart(runs: readonly RestartRun[]): string {
  const rows = WAYS.map((way) => {
    const of = (pick: (run: RestartRun) => number): number => median(runs.filter((run) => run.way === way).map(pick))
    const cpu = (name: string): number => of(({ usage }) => usage[name]?.cpuSeconds ?? 0)
    const peak = (name: string): number => of(({ usage }) => usage[name]?.peakMegabytes ?? 0)
    return [
      way,
      of(({ pods }) => pods),
      of(({ ready }) => ready),
      of(({ caughtUp }) => caughtUp),
      of(({ running }) => running),
      cpu('causeway'),
      cpu('nats'),
      peak('causeway') + peak('nats'),
    ]
  })
  const head = ['restart, medians', 'pods', 'ready, s', 'caught up, s', 'new pod runs, s']
  return table([...head, 'CPU causeway, s', 'CPU NATS, s', 'peak MB'], rows)
}
