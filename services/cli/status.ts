import { openLeases } from '#libs/bus'
import { STREAMS, partitionOf } from '#libs/events'
import { align } from './output/table.ts'
import { openHealth } from './tenant/health.ts'
import { type CommandOptions, type Running, withRunning } from './tenant/running.ts'

type Report = {
  processes: { name: string; pid: number | undefined }[]
  streams: { name: string; messages: number; bytes: number }[]
  partitions: { role: string; held: number; of: number; owners: string[] }[]
  host: { state: string; message: string }
  tenants: { name: string; state: string; message: string; partition: number; hostNamespace: string }[]
}

const ROLES = ['watcher', 'translator', 'writer']

/** Shows processes, streams, who holds the partitions, and the tenants. Exit status 1 when an API is not in sync. */
export async function status(options: CommandOptions): Promise<number> {
  const { terminal, json } = options
  return withRunning(options, async (running) => {
    const report = await gather(running)
    if (json) terminal.print(JSON.stringify(report))
    else for (const line of render(report)) terminal.print(line)
    const states = [report.host.state, ...report.tenants.map((tenant) => tenant.state)]
    return states.every((state) => state === 'synced') ? 0 : 1
  })
}

async function gather({ info, bus, registry }: Running): Promise<Report> {
  const health = await openHealth(bus, info.replicas)
  const healthOf = async (key: string): Promise<{ state: string; message: string }> => {
    const entry = await health.get(key)
    return { state: entry?.value.state ?? 'unknown', message: entry?.value.message ?? '' }
  }
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
      })),
    ),
  }
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

function render(report: Report): string[] {
  const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`
  return [
    ...align([['PROCESS', 'PID'], ...report.processes.map(({ name, pid }) => [name, String(pid ?? '-')])]),
    '',
    ...align([
      ['ROLE', 'PARTITIONS', 'HELD BY'],
      ...report.partitions.map(({ role, held, of, owners }) => [role, `${held}/${of}`, owners.join(', ')]),
    ]),
    '',
    ...align([
      ['STREAM', 'MESSAGES', 'SIZE'],
      ...report.streams.map(({ name, messages, bytes }) => [name, String(messages), megabytes(bytes)]),
    ]),
    '',
    ...align([
      ['API', 'STATE', 'PARTITION', 'HOST NAMESPACE', ''],
      ['host', report.host.state, '', '', report.host.message],
      ...report.tenants.map((tenant) => [
        tenant.name,
        tenant.state,
        String(tenant.partition),
        tenant.hostNamespace,
        tenant.message,
      ]),
    ]),
  ]
}
