import { hostName } from '#libs/translation'
import { CausewayError, systemClock } from '#libs/kernel'
import type { KubeClient } from '#libs/kube'
import { RESOURCES } from '#libs/kube-model'
import type { Field } from './field.ts'
import { type PodWatch, until } from './pod-watch.ts'
import { BASELINE_NAMESPACE, NAMESPACE, createPod, present } from './pods.ts'

/** A tenant, or a namespace of the host in the place of one. */
export type Place = {
  name: string
  client: KubeClient
  namespace: string
  pods: PodWatch
  /** Where a pod of it is on the host. */
  copyOf(pod: string): { namespace: string; name: string }
}

const TIMEOUT_MS = 180_000

/** @throws CausewayError `BenchFailed` when there is nobody to be compared with */
export function requireNeighbours(places: readonly Place[]): void {
  if (places.length < 2) throw new CausewayError('takes two tenants at least', { code: 'BenchFailed' })
}

/** The tenants. */
export function tenantPlaces(field: Field): Place[] {
  return field.tenants.map(({ name, client, pods }) => ({
    name,
    client,
    pods,
    namespace: NAMESPACE,
    copyOf: (pod) => ({
      namespace: `causeway-${name}`,
      name: hostName({ namespace: NAMESPACE, name: pod }, name),
    }),
  }))
}

/** As many places straight on the host: what the API server itself does to those who share it. */
export function hostPlaces(host: KubeClient, field: Field): Place[] {
  return field.tenants.map(({ name }) => ({
    name: `host-${name}`,
    client: host,
    pods: field.host,
    namespace: BASELINE_NAMESPACE,
    copyOf: (pod) => ({ namespace: BASELINE_NAMESPACE, name: pod }),
  }))
}

/** Each place makes pods one after another, each when the one before runs. @returns ms until each ran */
export async function oneByOne(places: readonly Place[], podsEach: number, prefix: string): Promise<number[]> {
  const times = await Promise.all(
    places.map(async (place) => {
      const took: number[] = []
      for (let index = 0; index < podsEach; index++) {
        const name = `${prefix}-${place.name}-${index}`
        const { sentAt } = await createPod(place.client, place.namespace, name)
        await untilRuns(place, name)
        took.push(present(place.pods.pods.get(name)?.runningAt, `the running of ${name}`) - sentAt)
      }
      return took
    }),
  )
  return times.flat()
}

export function untilRuns(place: Place, name: string): Promise<void> {
  return until(() => place.pods.pods.get(name)?.runningAt !== undefined, {
    what: `${name} running`,
    timeoutMs: TIMEOUT_MS,
  })
}

/** Changes the status of a pod's copy on the host. @returns ms until the tenant sees it */
export async function tellStatus(host: KubeClient, place: Place, name: string): Promise<number> {
  const before = present(place.pods.pods.get(name), name).changedAt
  const sentAt = systemClock.now()
  await patchStatus(host, place.copyOf(name), `seen at ${sentAt}`)
  await until(() => (place.pods.pods.get(name)?.changedAt ?? before) > before, {
    what: `the status of ${name}`,
    timeoutMs: TIMEOUT_MS,
  })
  return present(place.pods.pods.get(name), name).changedAt - sentAt
}

export async function patchStatus(
  host: KubeClient,
  copy: { namespace: string; name: string },
  message: string,
): Promise<void> {
  await host.patch(RESOURCES.pods, copy, { status: { message } }, { type: 'strategic', subresource: 'status' })
}
