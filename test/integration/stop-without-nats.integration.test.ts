import { afterEach, beforeEach, expect, test } from 'vitest'
import { openKv } from '#libs/bus'
import { pipelineEnv } from '#libs/config'
import { RESOURCES } from '#libs/kube-model'
import { type Spawned, startScript } from '../harness/process.ts'
import { type WatcherFixture, startFixture } from './watcher-fixture.ts'

const services = ['watcher', 'translator', 'writer'] as const

let fixture: WatcherFixture
let running: Spawned[]

beforeEach(async () => {
  running = []
  // Longer than the test: leases are still held when they are to be given back.
  fixture = await startFixture(['host', 'team-a'], { leaseTtlMs: 60_000 })
  await fixture.registry.setHost({ kubeconfig: fixture.apiserver.kubeconfigFile('host') })
  await fixture.register('team-a')
})

afterEach(async () => {
  await Promise.all(running.map((each) => each.end('SIGKILL')))
  await fixture.nats.restart()
  await fixture.close()
})

/** Address of the health endpoint, as the log tells it. */
function healthOf(service: Spawned): string | undefined {
  return /"url":"([^"]+)"/.exec(service.stdout() + service.stderr())?.[1]
}

test('services end in order while NATS is gone, before one call to it has run out of time', async () => {
  running = services.map((name) =>
    startScript(`services/${name}/main.ts`, [], {
      env: { ...pipelineEnv({ ...fixture.config(name), log: { level: 'info' } }), CAUSEWAY_INSTANCE: name },
    }),
  )
  for (const service of running) {
    await expect.poll(() => healthOf(service), { timeout: 30_000 }).toBeDefined()
    const ready = (): Promise<number> => fetch(`${healthOf(service)}/readyz`).then(({ status }) => status)
    await expect.poll(ready, { timeout: 30_000 }).toBe(200)
  }
  // Something to store a position for.
  const client = await fixture.client('team-a')
  const settings = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'settings', namespace: 'default' } }
  await client.create(RESOURCES.configmaps, { namespace: 'default' }, settings)
  await fixture.nats.kill()
  const order: string[] = []
  // Of a process that goes on.
  openKv(fixture.bus, { bucket: 'any' }).catch(() => order.push('a call ran out of time'))
  const exits = running.map(async (service, index) => {
    service.signal('SIGTERM')
    const { code } = await service.exited
    order.push(`${services[index]} ended with status ${code}`)
  })
  await Promise.all(exits)
  expect(order.toSorted()).toEqual(services.map((name) => `${name} ended with status 0`).toSorted())
}, 120_000)
