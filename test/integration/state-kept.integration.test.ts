import { jetstream } from '@nats-io/jetstream'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Bus, connectBus, ensureStreams } from '#libs/bus'
import { startTestNats } from '#libs/bus/testing'
import { MARKER_NAME, STREAMS, partitionOf, streamDeclarations, subjectFor } from '#libs/events'
import { systemClock } from '#libs/kernel'
import { RESOURCES, resourceToken } from '#libs/kube-model'
import { isStateKept } from '../../services/watcher/state-kept.ts'

let nats: Awaited<ReturnType<typeof startTestNats>>
let bus: Bus

beforeAll(async () => {
  nats = await startTestNats()
  bus = await connectBus({ servers: nats.url, name: 'test' })
})
afterAll(async () => {
  await bus.close()
  await nats.stop()
})

test('a marker that is in the log and not yet copied is waited for; one that was taken out is not there', async () => {
  const resource = RESOURCES.configmaps
  const partition = partitionOf('team-a', 2)
  const scope = {
    side: 'virtual' as const,
    resource,
    owners: () => [{ tenant: 'team-a', owner: 'uid-a' }],
    partitionOf: () => partition,
  }
  const key = {
    tenant: 'team-a',
    side: 'virtual' as const,
    resource: resourceToken(resource),
    namespace: '',
    name: MARKER_NAME,
  }
  const signal = AbortSignal.timeout(60_000)

  // A STATE that does not copy yet is behind.
  const declarations = streamDeclarations()
  await ensureStreams(bus, declarations)
  const { config } = await bus.manager.streams.info(STREAMS.state)
  await bus.manager.streams.update(STREAMS.state, { ...config, sources: [], subjects: ['nothing'] })
  await jetstream(bus.nats).publish(subjectFor('change', partition, key), '{}')
  let answer: boolean | undefined
  const asked = isStateKept({ bus, scope, clock: systemClock, signal }).then((kept) => (answer = kept))
  await expect.poll(async () => (await bus.manager.streams.info(STREAMS.changes)).state.messages).toBe(1)
  expect(answer).toBeUndefined()
  await bus.manager.streams.update(STREAMS.state, config)
  expect(await asked).toBe(true)

  await bus.manager.streams.purge(STREAMS.state)
  expect(await isStateKept({ bus, scope, clock: systemClock, signal })).toBe(false)
})
