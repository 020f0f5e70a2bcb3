import { setTimeout as sleep } from 'node:timers/promises'
import { systemClock } from '#libs/kernel'
import { RESOURCES } from '#libs/kube-model'
import { CloseStack, openTenantRegistry } from '#libs/runtime'
import { openClusters } from './clusters.ts'
import { type Installation, connect, newFolder, startInstallation, startNodes } from './installation.ts'
import { timeCommand } from './launch.ts'
import type { BenchOptions } from './options.ts'
import { logEnd } from './outcomes.ts'
import { PodWatch, until } from './pod-watch.ts'
import { NAMESPACE, benchName, createPod, ensureNamespace, inParallel, present } from './pods.ts'
import { type Usage, readResident, readUsage, usageBetween } from './processes.ts'
import { table } from './table.ts'

/** A fleet at rest. */
export type FleetRun = {
  tenants: number
  /** Memory that each process has, in MB, at rest. */
  residentMegabytes: Record<string, number>
  /** What so many seconds at rest take. */
  restSeconds: number
  idle: Record<string, Usage>
  /** Seconds until all pods ran on the host. */
  seconds: number
  /** Seconds until nothing more was written: their tenants know, too. */
  quietSeconds: number
  /** Until a pod that one of the tenants makes then is on the host, ms. */
  podMs: number
  /** Seconds that questions take, by what is asked. */
  asked: Record<(typeof QUESTIONS)[number], number>
  /** Of the whole fleet: seconds until all of it is served again after a restart of everything but the API servers. */
  restart?: number
}

const QUESTIONS = ['status', 'tenant list', 'why'] as const

/** Objects of each tenant: pods, and a ConfigMap for each of them. */
const OBJECTS = 20
const PODS = OBJECTS / 2
const QUIET_MS = 3_000
const TIMEOUT_MS = 1_200_000

/**
 * Registers ever more tenants with objects that are synced and then stay as they are: after the first tenth, and after
 * all of them.
 */
export async function fleet(
  options: BenchOptions,
  of: { tenants: number; restSeconds: number; progress: (line: string) => void },
): Promise<FleetRun[]> {
  const { tenants, restSeconds, progress } = of
  const stack = new CloseStack()
  try {
    const clusters = await openClusters(stack, { ...options, hostKubeconfig: undefined }, tenants)
    const first = present(clusters.tenants[0], 'a tenant')
    const data = newFolder(stack)
    // One more than there are, for each step.
    const { cpuProfDir } = options
    startNodes(stack, { host: clusters.hostKubeconfig, setup: { pods: tenants * PODS + 2 }, cpuProfDir })
    const start = (): Promise<Installation> =>
      startInstallation({ ...options, ...clusters, tenants: [first] }, { embedded: 0, pods: 0, data })
    let installation = await start()
    stack.push(() => installation.close())
    const host = await connect(stack, clusters.hostKubeconfig)
    const registry = await openTenantRegistry(installation.bus, 1)
    const running = new PodWatch(host, benchName)
    stack.push(() => running.close())
    const runs: FleetRun[] = []
    const steps = [Math.max(2, Math.round(tenants / 10)), tenants]
    const waiting = [...clusters.tenants]
    for (const step of steps) {
      const begun = systemClock.now()
      progress(`${step} tenants`)
      const joining = waiting.splice(0, step - (runs.at(-1)?.tenants ?? 0))
      await inParallel(joining, async ({ name, kubeconfig }) => {
        if (name !== first.name) {
          await ensureNamespace(host, `causeway-${name}`)
          await registry.put({ name, uid: `uid-${name}`, hostNamespace: `causeway-${name}`, kubeconfig })
        }
        await furnish(kubeconfig, name)
      })
      await until(() => running.running >= step * PODS, {
        what: 'the pods of all tenants',
        timeoutMs: TIMEOUT_MS,
        state: () => `${running.running} of ${step * PODS} run`,
      })
      const seconds = (systemClock.now() - begun) / 1_000
      await untilQuiet(installation)
      const quietSeconds = (systemClock.now() - begun) / 1_000
      const rest = await atRest(installation, restSeconds)
      const one = present(clusters.tenants[Math.floor(step * 0.777)], 'a tenant')
      const podMs = await onePod(stack, { of: one, name: `one-of-${step}`, running })
      const asked = await ask(data, { tenant: one.name, pod: `one-of-${step}` })
      runs.push({ tenants: step, seconds, quietSeconds, restSeconds, ...rest, podMs, asked })
    }
    progress('restarting')
    await installation.close()
    const begun = systemClock.now()
    installation = await start()
    const last = runs.at(-1)
    if (last !== undefined) last.restart = (systemClock.now() - begun) / 1_000
    return runs
  } finally {
    await stack.close()
  }
}

/** Makes a pod in a tenant. @returns milliseconds until it is on the host */
async function onePod(
  stack: CloseStack,
  { of, name, running }: { of: { kubeconfig: string }; name: string; running: PodWatch },
): Promise<number> {
  const client = await connect(stack, of.kubeconfig)
  // Connected before: that is the tenant's own affair.
  await client.listPage(RESOURCES.pods, { namespace: NAMESPACE, limit: 1 })
  const { answeredAt } = await createPod(client, NAMESPACE, name)
  const created = (): number | undefined => running.pods.get(name)?.createdAt
  await until(() => created() !== undefined, { what: `pod ${name} on the host`, timeoutMs: TIMEOUT_MS })
  return (created() ?? 0) - answeredAt
}

async function ask(data: string, { tenant, pod }: { tenant: string; pod: string }): Promise<FleetRun['asked']> {
  const args = { status: ['status'], 'tenant list': ['tenant', 'list'], why: ['why', `pod/${pod}`] }
  const seconds: Record<string, number> = {}
  for (const question of QUESTIONS) {
    const rest = question === 'why' ? ['-n', NAMESPACE, '-t', tenant] : []
    seconds[question] = await timeCommand([...args[question], ...rest, '--data', data])
  }
  return seconds as FleetRun['asked']
}

async function furnish(kubeconfig: string, tenant: string): Promise<void> {
  const stack = new CloseStack()
  try {
    const client = await connect(stack, kubeconfig)
    await ensureNamespace(client, NAMESPACE)
    for (let index = 0; index < PODS; index++) {
      const name = `fleet-${tenant}-${index}`
      const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: NAMESPACE }, data: { name } }
      await client.create(RESOURCES.configmaps, { namespace: NAMESPACE }, body)
      await createPod(client, NAMESPACE, name, [name])
    }
  } finally {
    await stack.close()
  }
}

/** Resolves when no intent has been logged for a while. */
async function untilQuiet({ bus }: Installation): Promise<void> {
  let [last, since] = [-1, systemClock.now()]
  while (systemClock.now() - since < QUIET_MS) {
    const { intents } = await logEnd(bus)
    if (intents !== last) [last, since] = [intents, systemClock.now()]
    await sleep(QUIET_MS / 10)
  }
}

/** What it takes when nothing has happened for a while, and while nothing does. */
async function atRest(
  { pids }: Installation,
  restSeconds: number,
): Promise<Pick<FleetRun, 'residentMegabytes' | 'idle'>> {
  await sleep(restSeconds * 1_000)
  const before = readUsage(pids)
  await sleep(restSeconds * 1_000)
  return { residentMegabytes: readResident(pids), idle: Object.fromEntries(usageBetween(before, readUsage(pids))) }
}

export function reportFleet(runs: readonly FleetRun[], own: readonly string[] = ['causeway', 'nats']): string {
  const names = [...own, 'apiserver']
  const rows = runs.map(
    ({ tenants, seconds, quietSeconds, restSeconds, residentMegabytes, idle, podMs, asked, restart }) => [
      tenants,
      seconds,
      quietSeconds,
      ...names.map((name) => residentMegabytes[name]),
      ...own.map((name) => ((idle[name]?.cpuSeconds ?? 0) * 100) / restSeconds),
      podMs,
      ...QUESTIONS.map((question) => asked[question]),
      restart,
    ],
  )
  const head = [
    'tenants',
    'on the host, s',
    'quiet, s',
    ...names.map((name) => `${name}, MB`),
    ...own.map((name) => `${name}, % of a core`),
    'pod on the host, ms',
    ...QUESTIONS.map((question) => `${question}, s`),
    'restart, s',
  ]
  const [few, all] = [runs[0], runs.at(-1)]
  if (few === undefined || all === undefined || few === all) return table(head, rows)
  const each = (name: string): number =>
    (((all.residentMegabytes[name] ?? 0) - (few.residentMegabytes[name] ?? 0)) * 1024) / (all.tenants - few.tenants)
  const further = own.map((name) => `${name} ${each(name).toFixed(0)} KB`).join(', ')
  return `${table(head, rows)}\n\neach further idle tenant of ${OBJECTS} objects: ${further}`
}
