import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { connectBus } from '#libs/bus'
import type { KubeObject } from '#libs/kube-model'
import { type Installation, startUp } from '../harness/installation.ts'
import { configMapOf, isRunning, podOf, secretOf, unique } from '../harness/objects.ts'
import { deleteProjections } from '../harness/projections.ts'
import { type SidesView, openView } from '../harness/world.ts'

/* The log, or a part of it, is gone: all is built again from the APIs, and nothing is deleted that should not be. */

const WAIT = { timeoutMs: 60_000 }
const KINDS = ['pods', 'configmaps', 'secrets', 'services'] as const
const NAMES = ['one', 'two', 'three'] as const

let up: Installation
let sides: SidesView
let namespace: string
let before: Record<string, string>

beforeAll(async () => {
  up = await startUp({ separate: false, tenants: ['a', 'b'] })
  await open()
  namespace = await sides.tenants[0].namespace(unique('kept'))
  await sides.tenants[1].namespace(namespace)
  for (const { cluster } of sides.tenants) {
    await cluster.create(configMapOf(namespace, 'settings', { a: '1' }))
    await cluster.create(secretOf(namespace, 'token', { b: '2' }))
    await cluster.create({
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { namespace, name: 'web' },
      spec: { ports: [{ port: 80 }] },
    })
    for (const name of NAMES) await cluster.create(podOf(namespace, name, { configMap: 'settings', secret: 'token' }))
  }
  await allRun(NAMES.length)
  before = await copies()
})
afterAll(async () => {
  await sides?.close()
  await up?.dispose()
})

async function open(): Promise<void> {
  const { host: _host, ...tenants } = up.ready.kubeconfigs
  sides = await openView({ host: up.ready.hostKubeconfig, tenants })
}

async function allRun(count: number): Promise<void> {
  for (const { cluster } of sides.tenants)
    await cluster.untilAll('pods', namespace, (pods) => pods.length === count && pods.every(isRunning), WAIT)
}

/** Uids of all copies, by kind and place. */
async function copies(): Promise<Record<string, string>> {
  const found: Record<string, string> = {}
  for (const { hostNamespace } of sides.tenants)
    for (const kind of KINDS)
      for (const { metadata } of await sides.host.list(kind, hostNamespace))
        if (metadata.labels?.['causeway.dev/namespace'] === namespace)
          found[`${kind}/${hostNamespace}/${metadata.name}`] = metadata.uid ?? ''
  return found
}

const uidsOfPods = async (): Promise<Set<string | undefined>> => {
  const lists = await Promise.all(sides.tenants.map(({ cluster }) => cluster.list('pods', namespace)))
  return new Set(lists.flat().map(({ metadata }) => metadata.uid))
}

async function purge(stream: string): Promise<void> {
  const bus = await connectBus({ servers: up.ready.natsUrl, name: 'test' })
  try {
    await bus.manager.streams.purge(stream)
  } finally {
    await bus.close()
  }
}

test.each<{ lost: string; running?: () => Promise<void>; stopped?: () => void }>([
  { lost: 'CHANGES', running: () => purge('CHANGES') },
  { lost: 'STATE', running: () => purge('STATE') },
  { lost: 'STATE and what translators remember', running: () => purge('STATE'), stopped: () => deleteProjections(up) },
  {
    lost: 'all of NATS, with what translators remember',
    stopped: () => {
      rmSync(join(up.data, 'nats'), { recursive: true })
      deleteProjections(up)
    },
  },
])('with $lost lost, everything is built again and every copy stays', async ({ running, stopped }) => {
  const pods = await uidsOfPods()
  await running?.()
  await sides.close()
  expect(await up.stop()).toMatchObject({ code: 0 })
  stopped?.()
  up = await up.restart()
  await open()
  // What is made and changed now crosses; what is deleted goes; both only when all that was before is known again.
  for (const tenant of sides.tenants) {
    const { cluster } = tenant
    await cluster.create(podOf(namespace, 'new'))
    await cluster.patch('configmaps', { namespace, name: 'settings' }, { data: { at: String(Date.now()) } })
  }
  await allRun(NAMES.length + 1)
  for (const tenant of sides.tenants) {
    const { cluster } = tenant
    const { data } = (await cluster.get('configmaps', { namespace, name: 'settings' })) as KubeObject & {
      data: Record<string, string>
    }
    const copy = tenant.copyOf({ namespace, name: 'settings' })
    await sides.host.until(
      'configmaps',
      copy,
      (found) => Object.is((found['data'] as typeof data)['at'], data['at']),
      WAIT,
    )
    await cluster.delete('pods', { namespace, name: 'new' })
    await sides.host.untilGone('pods', tenant.copyOf({ namespace, name: 'new' }), WAIT)
  }
  await allRun(NAMES.length)
  expect(await copies()).toEqual(before)
  expect(await uidsOfPods()).toEqual(pods)
})
