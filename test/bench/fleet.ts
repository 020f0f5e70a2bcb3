import { setTimeout as sleep } from 'node:timers/promises'
import { systemClock } from '#libs/kernel'
import { RESOURCES } from '#libs/kube-model'
import { CloseStack, openTenantRegistry } from '#libs/runtime'
import { openClusters } from './clusters.ts'
import { type Installation, connect, startInstallation } from './installation.ts'
import type { BenchOptions } from './options.ts'
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
  /** Seconds until all tenants' objects were synced. */
  seconds: number
}

/** Objects of each tenant: pods, and a ConfigMap for each of them. */
const OBJECTS = 20
const PODS = OBJECTS / 2
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
    const setup = { embedded: 0, pods: tenants * PODS }
    const installation = await startInstallation({ ...options, ...clusters, tenants: [first] }, setup)
    stack.push(() => installation.close())
    const registry = await openTenantRegistry(installation.bus, 1)
    const running = new PodWatch(installation.host, benchName)
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
          await ensureNamespace(installation.host, `causeway-${name}`)
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
      runs.push({ tenants: step, seconds, restSeconds, ...(await atRest(installation, restSeconds)) })
    }
    return runs
  } finally {
    await stack.close()
  }
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
  const rows = runs.map(({ tenants, seconds, restSeconds, residentMegabytes, idle }) => [
    tenants,
    seconds,
    ...names.map((name) => residentMegabytes[name]),
    ...own.map((name) => ((idle[name]?.cpuSeconds ?? 0) * 100) / restSeconds),
  ])
  const head = [
    'tenants',
    'until synced, s',
    ...names.map((name) => `${name}, MB`),
    ...own.map((name) => `${name}, % of a core`),
  ]
  const [few, all] = [runs[0], runs.at(-1)]
  if (few === undefined || all === undefined || few === all) return table(head, rows)
  const each = (name: string): number =>
    (((all.residentMegabytes[name] ?? 0) - (few.residentMegabytes[name] ?? 0)) * 1024) / (all.tenants - few.tenants)
  const further = own.map((name) => `${name} ${each(name).toFixed(0)} KB`).join(', ')
  return `${table(head, rows)}\n\neach further idle tenant of ${OBJECTS} objects: ${further}`
}
