import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { connectBus, createPublisher, ensureStreams } from '#libs/bus'
import { STREAMS, streamDeclarations } from '#libs/events'
import { systemClock } from '#libs/kernel'
import { choosePort } from '../../services/cli/up/free-port.ts'
import { startNatsProcess } from '../../services/cli/up/nats-process.ts'
import { mountSmallDisk } from '../faults/full-disk.ts'

test('what was published while the disk was full is stored once there is room again', async ({ skip }) => {
  const folder = mkdtempSync(join(tmpdir(), 'causeway-full-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const disk = mountSmallDisk(join(folder, 'jetstream'), 96)
  if (typeof disk === 'string') return skip(disk)
  onTestFinished(() => disk.unmount())
  const told: string[] = []
  const onRestart = (what: string): number => told.push(what)
  const port = await choosePort({ flag: '--port' })
  const nats = await startNatsProcess({ dataDir: folder, port, clock: systemClock, onRestart })
  onTestFinished(() => nats.stop())
  const bus = await connectBus({ servers: nats.url, name: 'test' })
  onTestFinished(() => bus.close())
  await ensureStreams(bus, streamDeclarations({ replicas: 1 }))
  const publisher = createPublisher(bus, { ackTimeoutMs: 500 })
  onTestFinished(() => publisher.close())
  const publish = (name: string): Promise<{ stream: string }> =>
    publisher.publish({
      subject: `change.0.t.virtual.pods.a.${name}`,
      headers: { 'Nats-Msg-Id': name },
      payload: new Uint8Array(1024),
    })
  await publish('before')
  disk.fill()
  const during = Array.from({ length: 50 }, (_, index) => publish(`during-${index}`))
  await expect.poll(() => readFileSync(join(folder, 'nats-server.log'), 'utf8')).toContain('no space left on device')
  disk.relieve()
  expect(new Set((await Promise.all(during)).map(({ stream }) => stream))).toEqual(new Set([STREAMS.changes]))
  expect(await publish('after')).toMatchObject({ stream: STREAMS.changes })
})
