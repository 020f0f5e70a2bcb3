import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { KubeObject } from '#libs/kube-model'
import type { Recording } from '../harness/cluster.ts'
import { type Clusters, givenClusters, startClusters } from '../harness/clusters.ts'
import { type Installation, startUp } from '../harness/installation.ts'
import { isRunning, podOf, shownState } from '../harness/objects.ts'
import { type SidesView, openView, upOptionsFor } from '../harness/world.ts'

const PODS = 200
/** The kill comes when this many are on the host. */
const KILL_AT = 60
const TIMEOUT_MS = 90_000

// The clusters live apart, so that pods can be made while Causeway is down.
let clusters: Clusters
let sides: SidesView
beforeAll(async () => {
  clusters = await startClusters()
  sides = await openView({ host: clusters.hostKubeconfig, tenants: clusters.tenants })
})
afterAll(async () => {
  await sides?.close()
  await clusters?.stop()
})

async function end(up: Installation | undefined): Promise<void> {
  try {
    if (up !== undefined && givenClusters() !== undefined) await sides.clean()
  } finally {
    await up?.dispose()
  }
}

/** What became of the pods; all lists are empty when all is well. */
type Result = { onHostAtKill: number; lost: string[]; doubled: string[]; ended: string[]; differing: string[] }
const ALL_WELL = { lost: [], doubled: [], ended: [], differing: [] }

/** Creates pods, kills when some of them are on the host, and waits until all run. */
async function createThroughKill(kill: () => Promise<unknown>): Promise<Result> {
  const [tenant] = sides.tenants
  const namespace = await tenant.namespace()
  const onHost = await sides.host.record('pods', tenant.hostNamespace)
  const copiesSoFar = (): KubeObject[] => copiesOf(onHost, namespace)
  const names = Array.from({ length: PODS }, (_, index) => `pod-${index}`)
  const creating = createAll(names, (name) => tenant.cluster.create(podOf(namespace, name)))
  await expect.poll(() => copiesSoFar().length, { interval: 2, timeout: TIMEOUT_MS }).toBeGreaterThanOrEqual(KILL_AT)
  const killing = kill()
  // Counted after the kill, so there were no more than that at the kill.
  const copiesAtKill = await sides.host.list('pods', tenant.hostNamespace)
  const onHostAtKill = copiesAtKill.filter((copy) => isCopyFrom(copy, namespace)).length
  await killing
  const made = await creating
  const isDone = (pods: KubeObject[]): boolean => pods.length === PODS && pods.every(isRunning)
  const pods = await tenant.cluster.untilAll('pods', namespace, isDone, { timeoutMs: TIMEOUT_MS })
  await expect.poll(() => copiesSoFar().length).toBeGreaterThanOrEqual(PODS)
  await onHost.stop()

  const current = new Map(pods.map((pod) => [pod.metadata.uid, pod]))
  const stamped = copiesSoFar().map(({ metadata }) => metadata.annotations?.['causeway.dev/uid'] ?? '')
  const copies = await sides.host.list('pods', tenant.hostNamespace)
  const shown = new Map(copies.map((copy) => [copy.metadata.name, JSON.stringify(shownState(copy))]))
  const isShown = (pod: KubeObject): boolean =>
    shown.get(tenant.copyOf({ namespace, name: pod.metadata.name ?? '' }).name) === JSON.stringify(shownState(pod))
  return {
    onHostAtKill,
    lost: made.filter(({ metadata }) => !current.has(metadata.uid)).map(nameOf),
    doubled: stamped.filter((uid, index) => stamped.indexOf(uid) !== index),
    ended: onHost.events.filter(({ type }) => type === 'DELETED').map(({ object }) => nameOf(object)),
    differing: pods.filter((pod) => !isShown(pod)).map(nameOf),
  }
}

/**
 * Deletes pods, kills when some of them are gone from the host, and waits until none is left in the tenant.
 * @returns how many were left on the host at the kill, and which are in the end
 */
async function deleteThroughKill(kill: () => Promise<unknown>): Promise<{ leftAtKill: number; left: string[] }> {
  const [tenant] = sides.tenants
  const namespace = await tenant.namespace()
  const names = Array.from({ length: PODS / 2 }, (_, index) => `pod-${index}`)
  await createAll(names, (name) => tenant.cluster.create(podOf(namespace, name)))
  const areRunning = (pods: KubeObject[]): boolean => pods.length === names.length && pods.every(isRunning)
  await tenant.cluster.untilAll('pods', namespace, areRunning, { timeoutMs: TIMEOUT_MS })
  const onHost = await sides.host.record('pods', tenant.hostNamespace)
  const gone = (): number =>
    onHost.events.filter(({ type, object }) => type === 'DELETED' && isCopyFrom(object, namespace)).length
  const deleting = Promise.all(names.map((name) => tenant.cluster.delete('pods', { namespace, name })))
  await expect.poll(gone, { interval: 2, timeout: TIMEOUT_MS }).toBeGreaterThanOrEqual(20)
  const leftAtKill = names.length - gone()
  await Promise.all([kill(), deleting])
  await tenant.cluster.untilAll('pods', namespace, (pods) => pods.length === 0, { timeoutMs: TIMEOUT_MS })
  await onHost.stop()
  const copies = await sides.host.list('pods', tenant.hostNamespace)
  return { leftAtKill, left: copies.filter((copy) => isCopyFrom(copy, namespace)).map(nameOf) }
}

/** Every copy that was ever made of the namespace's pods. */
function copiesOf({ events }: Recording, namespace: string): KubeObject[] {
  return events
    .filter(({ type, object }) => type === 'ADDED' && isCopyFrom(object, namespace))
    .map(({ object }) => object)
}

function isCopyFrom({ metadata }: KubeObject, namespace: string): boolean {
  return metadata.labels?.['causeway.dev/namespace'] === namespace
}

async function createAll(names: string[], create: (name: string) => Promise<KubeObject>): Promise<KubeObject[]> {
  const made: KubeObject[] = []
  const rest = [...names]
  const worker = async (): Promise<void> => {
    for (let name = rest.shift(); name !== undefined; name = rest.shift()) made.push(await create(name))
  }
  await Promise.all(Array.from({ length: 8 }, worker))
  return made
}

function nameOf({ metadata }: KubeObject): string {
  return metadata.name ?? ''
}

describe('in one process', () => {
  let up: Installation
  beforeAll(async () => {
    up = await startUp({ separate: false, ...upOptionsFor(clusters) })
  })
  afterAll(() => end(up))

  test('kill -9 of everything while pods are created loses and doubles none', async () => {
    const { onHostAtKill, ...result } = await createThroughKill(async () => {
      await up.kill()
      up = await up.restart()
    })
    expect(onHostAtKill).toBeLessThan(PODS)
    expect(result).toEqual(ALL_WELL)
  })

  test('kill -9 of everything while pods are deleted leaves none', async () => {
    const { leftAtKill, left } = await deleteThroughKill(async () => {
      await up.kill()
      up = await up.restart()
    })
    expect(leftAtKill).toBeGreaterThan(0)
    expect(left).toEqual([])
  })

  test('kill -9 of NATS while pods are created loses and doubles none', async () => {
    const { onHostAtKill, ...result } = await createThroughKill(() => killRole(up, 'nats'))
    expect(onHostAtKill).toBeLessThan(PODS)
    expect(result).toEqual(ALL_WELL)
  })
})

describe('in separate processes', () => {
  let up: Installation
  beforeAll(async () => {
    up = await startUp({ separate: true, ...upOptionsFor(clusters) })
  })
  afterAll(() => end(up))

  test.each(['watcher', 'translator', 'writer', 'nats'])(
    'kill -9 of %s while pods are created loses and doubles none',
    async (role) => {
      const { onHostAtKill, ...result } = await createThroughKill(() => killRole(up, role))
      expect(onHostAtKill).toBeLessThan(PODS)
      expect(result).toEqual(ALL_WELL)
    },
  )

  test('kill -9 of the writer while pods are deleted leaves none', async () => {
    const { leftAtKill, left } = await deleteThroughKill(() => killRole(up, 'writer'))
    expect(leftAtKill).toBeGreaterThan(0)
    expect(left).toEqual([])
  })
})

/** Kills a child of the installation, and waits until it has been started again. */
function killRole(up: Installation, role: string): Promise<void> {
  const pid = up.pids()[role]
  if (pid === undefined || pid < 2) throw new Error(`no process ${role}`)
  process.kill(pid, 'SIGKILL')
  return expect.poll(() => up.pids()[role], { timeout: 20_000 }).not.toBe(pid)
}
