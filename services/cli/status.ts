import { openLeases } from '#libs/bus'
import { STREAMS, partitionOf } from '#libs/events'
import { ConfigError } from '#libs/kernel'
import { align } from './output/table.ts'
import {
  type DeletionHold,
  HOLD_PREFIX,
  type WaitingReport,
  openDeletionHolds,
  openWaitingReports,
  waitingKey,
} from '#libs/runtime'
import { holdMessage } from './tenant/confirm.ts'
import { openHealth } from './tenant/health.ts'
import { type CommandOptions, type Running, withRunning } from './tenant/running.ts'
import { waitingLines, waitingSummary } from './waiting.ts'

type Report = {
  processes: { name: string; pid: number | undefined }[]
  streams: { name: string; messages: number; bytes: number }[]
  partitions: { role: string; held: number; of: number; owners: string[] }[]
  host: { state: string; message: string }
  tenants: {
    name: string
    state: string
    message: string
    partition: number
    hostNamespace: string
    held?: DeletionHold
    /** How many of its objects wait, by reason. */
    waiting: WaitingReport['counts']
  }[]
}

const ROLES = ['watcher', 'translator', 'writer']

/** Shows processes, streams, who holds the partitions, and the tenants. Exit status 1 when an API is not in
 * sync or deletions are stopped. */
export async function status(options: CommandOptions & { tenant?: string }): Promise<number> {
  const { terminal, json, tenant } = options
  return withRunning(options, async (running) => {
    if (tenant !== undefined) return await waitingOf(running, { ...options, tenant })
    const report = await gather(running)
    if (json) terminal.print(JSON.stringify(report))
    else for (const line of render(report, terminal.isTty ? terminal.width : undefined)) terminal.print(line)
    const states = [report.host.state, ...report.tenants.map((tenant) => tenant.state)]
    const isFree = report.tenants.every(({ held }) => held === undefined)
    return isFree && states.every((state) => state === 'synced') ? 0 : 1
  })
}

/** Shows which objects of a tenant wait. Exit status 1 when some do. @throws ConfigError when there is no such tenant */
async function waitingOf(
  { info, bus, registry }: Running,
  { tenant, terminal, json }: CommandOptions & { tenant: string },
): Promise<number> {
  if ((await registry.get(tenant)) === undefined)
    throw new ConfigError([`no tenant "${tenant}": "causeway tenant list" shows those there are`])
  const told = await (await openWaitingReports(bus, info.replicas)).get(waitingKey(tenant))
  const report: WaitingReport = told?.value ?? { counts: {}, objects: [] }
  if (json) terminal.print(JSON.stringify({ tenant, ...report }))
  else
    for (const line of waitingLines(tenant, report, terminal.isTty ? terminal.width : undefined)) terminal.print(line)
  return report.objects.length === 0 ? 0 : 1
}

async function gather({ info, bus, registry }: Running): Promise<Report> {
  const health = await openHealth(bus, info.replicas)
  const holds = await openDeletionHolds(bus, info.replicas)
  const held = new Map((await holds.list(`${HOLD_PREFIX}*`)).map(({ key, value }) => [key, value as DeletionHold]))
  const healthOf = async (key: string): Promise<{ state: string; message: string }> => {
    const entry = await health.get(key)
    return { state: entry?.value.state ?? 'unknown', message: entry?.value.message ?? '' }
  }
  const waiting = await openWaitingReports(bus, info.replicas)
  const streams = await Promise.all(
    Object.values(STREAMS).map(async (name) => {
      const { state } = await bus.manager.streams.info(name)
      return { name, messages: state.messages, bytes: state.bytes }
    }),
  )
  const tenants = await registry.list()
  return {
    processes: [{ name: 'up', pid: info.pid }, ...Object.entries(info.processes).map(([name, pid]) => ({ name, pid }))],
    streams,
    partitions: await partitions({ info, bus }),
    host: await healthOf('host'),
    tenants: await Promise.all(
      tenants.map(async ({ name, hostNamespace }) => ({
        name,
        hostNamespace,
        partition: partitionOf(name, info.partitions),
        ...(await healthOf(`tenant.${name}`)),
        ...heldOf(held.get(HOLD_PREFIX + name)),
        waiting: (await waiting.get(waitingKey(name)))?.value.counts ?? {},
      })),
    ),
  }
}

function heldOf(held: DeletionHold | undefined): { held?: DeletionHold } {
  return held === undefined ? {} : { held }
}

async function partitions({ info, bus }: Pick<Running, 'info' | 'bus'>): Promise<Report['partitions']> {
  const leases = await openLeases(bus, { owner: `cli-${process.pid}`, replicas: info.replicas })
  for await (const holders of leases.watchHolders()) {
    return ROLES.map((role) => {
      const held = [...holders].filter(([key]) => key.startsWith(`${role}.`))
      const owners = [...new Set(held.map(([, holder]) => holder.owner))]
      return { role, held: held.length, of: info.partitions, owners }
    })
  }
  return []
}

function render(report: Report, width?: number): string[] {
  const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`
  return [
    ...align([['PROCESS', 'PID'], ...report.processes.map(({ name, pid }) => [name, String(pid ?? '-')])], width),
    '',
    ...align(
      [
        ['ROLE', 'PARTITIONS', 'HELD BY'],
        ...report.partitions.map(({ role, held, of, owners }) => [role, `${held}/${of}`, owners.join(', ')]),
      ],
      width,
    ),
    '',
    ...align(
      [
        ['STREAM', 'MESSAGES', 'SIZE'],
        ...report.streams.map(({ name, messages, bytes }) => [name, String(messages), megabytes(bytes)]),
      ],
      width,
    ),
    '',
    ...align(
      [
        ['API', 'STATE', 'PARTITION', 'HOST NAMESPACE', ''],
        ['host', report.host.state, '', '', report.host.message],
        ...report.tenants.map((tenant) => [
          tenant.name,
          tenant.state,
          String(tenant.partition),
          tenant.hostNamespace,
          [
            tenant.message,
            ...(tenant.held === undefined ? [] : [holdMessage(tenant.name, tenant.held)]),
            waitingSummary({ counts: tenant.waiting }),
          ]
            .filter((text) => text !== '')
            .join('; '),
        ]),
      ],
      width,
    ),
  ]
}
