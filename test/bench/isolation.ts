import { RESOURCES, type ResourceInfo } from '#libs/kube-model'
import type { KubeClient } from '#libs/kube'
import type { Field } from './field.ts'
import type { Installation } from './installation.ts'
import { createPod, inParallel, present } from './pods.ts'
import { type Place, oneByOne, requireNeighbours, tenantPlaces, untilRuns } from './regular.ts'
import { type Percentiles, median, percentiles } from './statistics.ts'
import { table } from './table.ts'

const QUOTAS: ResourceInfo = { ...RESOURCES.pods, plural: 'resourcequotas', kind: 'ResourceQuota' }
/** Changes per second of one object. */
const HOT_PER_SECOND = 500
/** Pods that wait for a quota. */
const PARKED = 100

/** The neighbours' times until a pod runs, in ms: alone, and beside what is wrong with another tenant. */
export type IsolationRun = { alone: Percentiles; beside: Record<string, Percentiles> }

/** Makes one tenant bad in one way after another while its neighbours make pods one after another. */
export async function isolation(
  { host }: Installation,
  field: Field,
  { podsEach }: { podsEach: number },
): Promise<IsolationRun> {
  const places = tenantPlaces(field)
  requireNeighbours(places)
  const [bad, ...neighbours] = places
  const tenant = present(bad, 'a tenant')
  const alone = percentiles(await oneByOne(neighbours, podsEach, 'alone'))
  const beside: Record<string, Percentiles> = {}
  for (const [name, spoil] of Object.entries(WAYS)) {
    const mend = await spoil(tenant, host)
    try {
      beside[name] = percentiles(await oneByOne(neighbours, podsEach, name))
    } finally {
      await mend()
    }
  }
  return { alone, beside }
}

type Spoil = (place: Place, host: KubeClient) => Promise<() => Promise<void>>

const WAYS: Record<string, Spoil> = {
  'hot-loop': async (place) => {
    const { client, namespace } = place
    const at = { namespace, name: 'hot' }
    await createPod(client, namespace, 'hot')
    await untilRuns(place, 'hot')
    let isOver = false
    let changes = 0
    const startedAt = performance.now()
    const changing = Array.from({ length: 4 }, async () => {
      while (!isOver) {
        changes++
        const annotations = { 'bench/change': String(changes) }
        await client.patch(RESOURCES.pods, at, { metadata: { annotations } }, { type: 'merge' })
        const ahead = (changes * 1_000) / HOT_PER_SECOND - (performance.now() - startedAt)
        if (ahead > 0) await new Promise((resolve) => setTimeout(resolve, ahead))
      }
    })
    return async () => {
      isOver = true
      await Promise.all(changing)
    }
  },
  'full-quota': async (place, host) => {
    const at = { namespace: `causeway-${place.name}`, name: 'bench' }
    const quota = { apiVersion: 'v1', kind: 'ResourceQuota', metadata: at, spec: { hard: { pods: '0' } } }
    const made = await host.create(QUOTAS, { namespace: at.namespace }, quota)
    const names = Array.from({ length: PARKED }, (_, index) => `parked-${index}`)
    await inParallel(names, async (name) => void (await createPod(place.client, place.namespace, name)))
    return async () => {
      await host.delete(QUOTAS, at, { uid: made.metadata.uid ?? '' })
      await Promise.all(names.map((name) => untilRuns(place, name)))
    }
  },
}

export function reportIsolation(runs: readonly IsolationRun[]): string {
  const points = ['p50', 'p90', 'p99', 'max'] as const
  const of = (list: readonly Percentiles[]): number[] => points.map((point) => median(list.map((run) => run[point])))
  const rows = Object.keys(WAYS).flatMap((name) => {
    const sides = runs.flatMap(({ alone, beside }) => {
      const found = beside[name]
      return found === undefined ? [] : [{ alone, found }]
    })
    const ratios = points.map((point) => median(sides.map(({ alone, found }) => found[point] / alone[point])))
    return [
      [`beside ${name}, ms`, ...of(sides.map(({ found }) => found))],
      ['over alone', ...ratios],
    ]
  })
  return table(
    ['neighbours: create until running', ...points],
    [['alone, ms', ...of(runs.map(({ alone }) => alone))], ...rows],
  )
}
