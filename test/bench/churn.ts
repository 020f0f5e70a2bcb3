import { systemClock } from '#libs/kernel'
import { type KubeClient, isAlreadyExists, reflect } from '#libs/kube'
import { RESOURCES } from '#libs/kube-model'
import type { ChangesRun } from './changes.ts'
import type { Field } from './field.ts'
import type { Installation } from './installation.ts'
import { measured } from './measure.ts'
import { until } from './pod-watch.ts'
import { BASELINE_NAMESPACE, NAMESPACE, createPod, inParallel, present } from './pods.ts'
import { percentiles } from './statistics.ts'
import { inRhythm } from './trickle.ts'

export type ChurnScale = {
  /** ConfigMaps of each tenant; one pod of it uses all of them. */
  maps: number
  /** Changes in all, of one map after another. */
  changes: number
  perSecond: number
}

const TIMEOUT_MS = 60_000

/** A ConfigMap that changes; `id` is in its data, so that its copy is known by it. */
type Churning = { client: KubeClient; namespace: string; name: string; id: string }

/** As many ConfigMaps straight on the host. */
export async function churnOnHost(installation: Installation, field: Field, scale: ChurnScale): Promise<ChangesRun> {
  const { host } = installation
  const maps = field.tenants.flatMap((tenant) => mapsOf(host, BASELINE_NAMESPACE, tenant.name, scale.maps))
  await createAll(maps)
  return churn(installation, { maps, scale, from: 'sent' })
}

/** ConfigMaps that pods of the tenants use, so that the host has copies. */
export async function churnInTenants(installation: Installation, field: Field, scale: ChurnScale): Promise<ChangesRun> {
  const maps = field.tenants.flatMap(({ name, client }) => mapsOf(client, NAMESPACE, name, scale.maps))
  await createAll(maps)
  for (const { client, name, pods } of field.tenants) {
    const used = mapsOf(client, NAMESPACE, name, scale.maps).map((map) => map.name)
    await createPod(client, NAMESPACE, `churn-${name}`, used)
    await until(() => pods.running > 0, { what: `the pod of ${name}`, timeoutMs: TIMEOUT_MS })
  }
  return churn(installation, { maps, scale, from: 'answered' })
}

function mapsOf(client: KubeClient, namespace: string, tenant: string, count: number): Churning[] {
  return Array.from({ length: count }, (_, index) => {
    const name = `churn-${tenant}-${index}`
    return { client, namespace, name, id: `${namespace}/${name}` }
  })
}

async function createAll(maps: readonly Churning[]): Promise<void> {
  await inParallel(maps, async ({ client, namespace, name, id }) => {
    const body = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name, namespace },
      data: { id, text: 'x'.repeat(500) },
    }
    try {
      await client.create(RESOURCES.configmaps, { namespace }, body)
    } catch (error) {
      if (!isAlreadyExists(error)) throw error
    }
  })
}

/** @param of.from where a change's time begins: when its call is sent, or when that is answered */
async function churn(
  installation: Installation,
  of: { maps: readonly Churning[]; scale: ChurnScale; from: 'sent' | 'answered' },
): Promise<ChangesRun> {
  const { maps, scale, from } = of
  const watch = new VersionWatch(installation.host)
  try {
    await until(() => watch.isReady, { what: 'the watch', timeoutMs: TIMEOUT_MS })
    const took: number[] = []
    const run = String(systemClock.now())
    const { value, cost } = await measured(installation, async () => {
      const startedAt = systemClock.now()
      await inRhythm({ pods: scale.changes, perSecond: scale.perSecond }, async (index) => {
        const { client, namespace, name, id } = present(maps[index % maps.length], 'a ConfigMap')
        const version = `${run}-${index}`
        const sentAt = systemClock.now()
        await client.patch(RESOURCES.configmaps, { namespace, name }, { data: { version } }, { type: 'merge' })
        const answeredAt = systemClock.now()
        await until(() => watch.seen.has(`${id}@${version}`), { what: `${version} of ${id}`, timeoutMs: TIMEOUT_MS })
        took.push(present(watch.seen.get(`${id}@${version}`), id) - (from === 'sent' ? sentAt : answeredAt))
      })
      return (systemClock.now() - startedAt) / 1_000
    })
    return { seconds: value, latency: percentiles(took), cost }
  } finally {
    await watch.close()
  }
}

/** When each version of each ConfigMap was seen on the host, by `id@version`, in ms since the epoch. */
class VersionWatch {
  readonly seen = new Map<string, number>()
  isReady = false
  readonly #stop = new AbortController()
  readonly #done: Promise<void>

  constructor(client: KubeClient) {
    this.#done = this.#follow(client)
    this.#done.catch(() => undefined)
  }

  async close(): Promise<void> {
    this.#stop.abort()
    await this.#done
  }

  async #follow(client: KubeClient): Promise<void> {
    const { signal } = this.#stop
    const resource = RESOURCES.configmaps
    for await (const event of reflect({ client, resource, clock: systemClock, random: Math.random, signal })) {
      if (event.type === 'STATE') this.isReady ||= event.state === 'watching'
      if (event.type !== 'ADDED' && event.type !== 'MODIFIED') continue
      const data = event.object['data'] as { id?: string; version?: string } | undefined
      const key = `${data?.id}@${data?.version}`
      if (!this.seen.has(key)) this.seen.set(key, event.observedAt)
    }
  }
}
