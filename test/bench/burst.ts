import { systemClock } from '#libs/kernel'
import type { Field } from './field.ts'
import type { Installation } from './installation.ts'
import { type Cost, measured } from './measure.ts'
import { type PodWatch, until } from './pod-watch.ts'
import { BASELINE_NAMESPACE, NAMESPACE, createPod, inParallel, present } from './pods.ts'

/** A burst's result: seconds until every pod ran, and what that cost. */
export type BurstRun = { seconds: number; cost: Cost }

const LEAST_TIMEOUT_MS = 180_000
const TIMEOUT_PER_POD_MS = 60

/** Creates pods straight on the host, as fast as it takes them, and waits until all of them run. */
export function burstOnHost(installation: Installation, field: Field, count: number): Promise<BurstRun> {
  const jobs = Array.from(
    { length: count },
    (_, index) => () => createPod(installation.host, BASELINE_NAMESPACE, `burst-${index}`),
  )
  return burst(installation, jobs, [field.host])
}

/** Creates pods in so many tenants, in turn, and waits until their tenants see all of them run. */
export function burstInTenants(
  installation: Installation,
  field: Field,
  of: { tenants: number; pods: number },
): Promise<BurstRun> {
  const tenants = field.tenants.slice(0, of.tenants)
  const jobs = Array.from({ length: of.pods }, (_, index) => {
    const tenant = present(tenants[index % tenants.length], 'a tenant')
    return () => createPod(tenant.client, NAMESPACE, `burst-${tenant.name}-${index}`)
  })
  const watches = tenants.map((tenant) => tenant.pods)
  return burst(installation, jobs, watches)
}

async function burst(
  installation: Installation,
  jobs: readonly (() => Promise<unknown>)[],
  watches: readonly PodWatch[],
): Promise<BurstRun> {
  const running = (): number => watches.reduce((sum, watch) => sum + watch.running, 0)
  const { value, cost } = await measured(installation, async () => {
    const startedAt = systemClock.now()
    await inParallel(jobs, async (job) => void (await job()))
    await until(() => running() >= jobs.length, {
      what: `${jobs.length} running pods`,
      timeoutMs: LEAST_TIMEOUT_MS + jobs.length * TIMEOUT_PER_POD_MS,
      state: () => `${running()} run`,
    })
    return (systemClock.now() - startedAt) / 1000
  })
  return { seconds: value, cost }
}
