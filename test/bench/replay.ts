import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Bus, connectBus, ensureStreams, startNatsServer } from '#libs/bus'
import { streamDeclarations } from '#libs/events'
import { recordLog } from '#libs/replay'
import { type Usage, readUsage, usageBetween } from './processes.ts'
import { until } from './pod-watch.ts'
import { median } from './statistics.ts'
import { fillLog } from './synthetic-log.ts'
import { table } from './table.ts'

/** One log written into a file. */
export type ReplayRun = {
  messages: number
  seconds: number
  perSecond: number
  fileMegabytes: number
  usage: Record<string, Usage>
}

const MB = 1024 ** 2

/**
 * How fast a log becomes a file: a nats-server of its own holds what pods leave in the log, in the proportions of the
 * product; this process reads it, as `causeway replay` does.
 * @param of.messages how many there are at least
 */
export async function replay(of: {
  messages: number
  repeat: number
  onProgress: (line: string) => void
}): Promise<ReplayRun[]> {
  const folder = mkdtempSync(join(tmpdir(), 'causeway-bench-'))
  const server = await startNatsServer({ dataDir: join(folder, 'nats'), port: 0, syncInterval: '2m' })
  try {
    const bus = await connectBus({ servers: server.url, name: 'bench' })
    try {
      await ensureStreams(bus, streamDeclarations())
      const messages = await fillLog(bus, of.messages, (done) => {
        if (done % 60_000 === 0) of.onProgress(`replay: ${done} messages laid down`)
      })
      await stateIsFull(bus, messages)
      const pids = { bench: process.pid, nats: server.process.pid ?? 0 }
      const runs: ReplayRun[] = []
      for (let number = 1; number <= of.repeat; number++) {
        of.onProgress(`replay ${number}/${of.repeat}`)
        runs.push(await recordOnce(bus, { path: join(folder, `replay-${number}.db`), pids }))
      }
      return runs
    } finally {
      await bus.close()
    }
  } finally {
    await server.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** STATE follows the other streams by itself: it is to be at rest while something else is measured. */
async function stateIsFull(bus: Bus, messages: number): Promise<void> {
  let last = -1
  let isAtRest = false
  const ask = setInterval(() => {
    void bus.manager.streams.info('STATE').then(({ state }) => {
      isAtRest = state.last_seq === last
      last = state.last_seq
    })
  }, 500)
  try {
    await until(() => isAtRest && last > 0, { what: `the last states of ${messages} messages`, timeoutMs: 600_000 })
  } finally {
    clearInterval(ask)
  }
}

async function recordOnce(bus: Bus, at: { path: string; pids: Record<string, number> }): Promise<ReplayRun> {
  const { path, pids } = at
  const before = readUsage(pids)
  const begun = performance.now()
  const { changes, intents, outcomes } = await recordLog({ bus, path, signal: new AbortController().signal })
  const seconds = (performance.now() - begun) / 1_000
  const usage = Object.fromEntries(usageBetween(before, readUsage(pids)))
  const messages = changes + intents + outcomes
  const fileMegabytes = statSync(path).size / MB
  rmSync(path)
  return { messages, seconds, perSecond: messages / seconds, fileMegabytes, usage }
}

export function reportReplay(runs: readonly ReplayRun[]): string {
  const of = (pick: (run: ReplayRun) => number): number => median(runs.map(pick))
  const cpu = (name: string): number =>
    of(({ usage, messages }) => ((usage[name]?.cpuSeconds ?? 0) * 1_000_000) / messages)
  return table(
    ['replay, medians', 'messages', 's', 'messages/s', 'CPU µs/message', 'NATS', 'file, MB', 'peak MB'],
    [
      [
        'log into a file',
        of(({ messages }) => messages),
        of(({ seconds }) => seconds),
        Math.round(of(({ perSecond }) => perSecond)),
        cpu('bench'),
        cpu('nats'),
        of(({ fileMegabytes }) => fileMegabytes),
        of(({ usage }) => usage['bench']?.peakMegabytes ?? 0),
      ],
    ],
  )
}
