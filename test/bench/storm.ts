import { systemClock } from '#libs/kernel'
import type { ChangesRun } from './changes.ts'
import type { Field } from './field.ts'
import type { Installation } from './installation.ts'
import { measured } from './measure.ts'
import { until } from './pod-watch.ts'
import { createPod, inParallel, present } from './pods.ts'
import { type Place, hostPlaces, patchStatus, tenantPlaces, untilRuns } from './regular.ts'
import { percentiles } from './statistics.ts'

export type StormScale = {
  /** Pods, over all tenants. */
  pods: number
  /** How often the status of each changes, as fast as the host takes it. */
  rounds: number
}

const TIMEOUT_MS = 300_000

/** The statuses of pods that are on the host alone. */
export function stormOnHost(installation: Installation, field: Field, scale: StormScale): Promise<ChangesRun> {
  return storm(installation, hostPlaces(installation.host, field), scale)
}

/** The statuses of tenants' copies, until the tenants have the last of each. */
export function stormInTenants(installation: Installation, field: Field, scale: StormScale): Promise<ChangesRun> {
  return storm(installation, tenantPlaces(field), scale)
}

async function storm(
  installation: Installation,
  places: readonly Place[],
  { pods, rounds }: StormScale,
): Promise<ChangesRun> {
  const stormy = Array.from({ length: pods }, (_, index) => {
    const place = present(places[index % places.length], 'a place')
    return { place, name: `storm-${place.name}-${index}`, lastSentAt: 0 }
  })
  await inParallel(stormy, async ({ place, name }) => {
    await createPod(place.client, place.namespace, name)
    await untilRuns(place, name)
  })
  const { value, cost } = await measured(installation, async () => {
    const startedAt = systemClock.now()
    for (let round = 1; round <= rounds; round++) {
      await inParallel(stormy, async (pod) => {
        pod.lastSentAt = systemClock.now()
        await patchStatus(installation.host, pod.place.copyOf(pod.name), messageOf(round))
      })
    }
    const left = (): number => stormy.filter(({ place, name }) => !hasSeen(place, name, rounds)).length
    await until(() => left() === 0, {
      what: 'the last statuses',
      timeoutMs: TIMEOUT_MS,
      state: () => `${left()} are not seen`,
    })
    return (systemClock.now() - startedAt) / 1_000
  })
  const took = stormy.map(
    ({ place, name, lastSentAt }) => present(place.pods.pods.get(name), name).changedAt - lastSentAt,
  )
  return { seconds: value, latency: percentiles(took), cost }
}

function messageOf(round: number): string {
  return `round ${round}`
}

function hasSeen(place: Place, name: string, round: number): boolean {
  return place.pods.pods.get(name)?.message === messageOf(round)
}
