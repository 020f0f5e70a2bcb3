import { setTimeout as sleep } from 'node:timers/promises'
import { systemClock } from '#libs/kernel'
import type { KubeClient } from '#libs/kube'
import { RESOURCES } from '#libs/kube-model'
import type { Field } from './field.ts'
import type { Installation } from './installation.ts'
import { type Cost, measured } from './measure.ts'
import { type PodWatch, until } from './pod-watch.ts'
import { BASELINE_NAMESPACE, NAMESPACE, createPod, present } from './pods.ts'
import { type Percentiles, percentiles } from './statistics.ts'

export type Rhythm = { pods: number; perSecond: number }

/** Latencies of a trickle, in ms. */
export type TrickleRun = {
  /** The bare call of the client. */
  call: Percentiles
  /** Baseline: call sent to seen on the host. Product: the tenant's answer to seen on the host. */
  create: Percentiles
  /** Baseline: status patch sent to seen. Product: `Running` seen on the host to seen in the tenant. */
  status: Percentiles
  cost: Cost
}

const TIMEOUT_MS = 30_000

/** Pods straight on the host: what creating one and patching its status takes by itself. */
export async function trickleOnHost(installation: Installation, field: Field, rhythm: Rhythm): Promise<TrickleRun> {
  const { host } = installation
  const calls: number[] = []
  const create: number[] = []
  const status: number[] = []
  const { cost } = await measured(installation, async () => {
    await inRhythm(rhythm, async (index) => {
      const name = `trickle-${index}`
      const { sentAt, answeredAt } = await createPod(host, BASELINE_NAMESPACE, name)
      await untilRunning(field.host, name)
      calls.push(answeredAt - sentAt)
      create.push(present(field.host.pods.get(name), name).createdAt - sentAt)
      status.push(await patchAndSee(host, field.host, name))
    })
  })
  return { call: percentiles(calls), create: percentiles(create), status: percentiles(status), cost }
}

/** Pods in one tenant. */
export async function trickleInTenant(installation: Installation, field: Field, rhythm: Rhythm): Promise<TrickleRun> {
  const tenant = present(field.tenants[0], 'a tenant')
  const calls: number[] = []
  const create: number[] = []
  const status: number[] = []
  const { cost } = await measured(installation, async () => {
    await inRhythm(rhythm, async (index) => {
      const name = `trickle-${index}`
      const { sentAt, answeredAt } = await createPod(tenant.client, NAMESPACE, name)
      await untilRunning(tenant.pods, name)
      // The host's watch may tell later than the tenant's.
      await untilRunning(field.host, name)
      const copy = present(field.host.pods.get(name), `the host copy of ${name}`)
      const original = present(tenant.pods.pods.get(name), name)
      calls.push(answeredAt - sentAt)
      create.push(copy.createdAt - answeredAt)
      status.push(present(original.runningAt, 'runningAt') - present(copy.runningAt, 'runningAt of the copy'))
    })
  })
  return { call: percentiles(calls), create: percentiles(create), status: percentiles(status), cost }
}

/** Begins one after another at a steady pace, however long each takes; resolves when all are over. */
export async function inRhythm({ pods, perSecond }: Rhythm, each: (index: number) => Promise<void>): Promise<void> {
  const startedAt = systemClock.now()
  const underWay: Promise<void>[] = []
  for (let index = 0; index < pods; index++) {
    await sleep(Math.max(0, startedAt + (index * 1000) / perSecond - systemClock.now()))
    const one = each(index)
    // Told below, once all have begun.
    one.catch(() => undefined)
    underWay.push(one)
  }
  await Promise.all(underWay)
}

function untilRunning(watch: PodWatch, name: string): Promise<void> {
  return until(() => watch.pods.get(name)?.runningAt !== undefined, {
    what: `${name} running`,
    timeoutMs: TIMEOUT_MS,
  })
}

/** Patches a pod's status; resolves to the time until a watch tells of it. */
async function patchAndSee(client: KubeClient, watch: PodWatch, name: string): Promise<number> {
  const before = present(watch.pods.get(name), name).changedAt
  const sentAt = systemClock.now()
  await client.patch(
    RESOURCES.pods,
    { namespace: BASELINE_NAMESPACE, name },
    { status: { message: `seen at ${sentAt}` } },
    { type: 'strategic', subresource: 'status' },
  )
  await until(() => (watch.pods.get(name)?.changedAt ?? before) > before, {
    what: `the status of ${name}`,
    timeoutMs: TIMEOUT_MS,
  })
  return present(watch.pods.get(name), name).changedAt - sentAt
}
