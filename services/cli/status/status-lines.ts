import type { PartitionState } from '#libs/explain'
import { align } from '../output/table.ts'
import { waitingSummary } from '../parked/waiting.ts'
import { holdMessage } from '../tenant/confirm.ts'
import type { StatusReport, TenantStatus } from './report.ts'

/** Where there are more partitions than this, those alone are shown of which something is to be said. */
const FEW_PARTITIONS = 16

/** The report as tables. @param width of the terminal. @default as wide as it takes */
export function statusLines(report: StatusReport, width?: number): string[] {
  const { at, processes, partitions, streams, host, hostError, tenants } = report
  const table = (rows: string[][]): string[] => align(rows, width)
  const shown = partitionRows(report)
  return [
    ...table([['PROCESS', 'PID'], ...processes.map(({ name, pid }) => [name, String(pid ?? '-')])]),
    '',
    ...table([
      ['ROLE', 'PARTITIONS', 'HELD BY'],
      ...partitions.map(({ role, held, of, owners }) => [role, `${held}/${of}`, owners.join(', ')]),
    ]),
    '',
    ...(shown.length === 0
      ? []
      : [...table([['PARTITION', 'ROLE', 'BEHIND', 'OLDEST', 'OWNER', 'LAST ERROR'], ...shown]), '']),
    ...table([
      ['STREAM', 'MESSAGES', 'SIZE'],
      ...streams.map(({ name, messages, bytes }) => [name, String(messages), `${(bytes / 1e6).toFixed(1)} MB`]),
    ]),
    '',
    ...table([
      ['API', 'STATE', 'PARTITION', 'HOST NAMESPACE', 'BEHIND', 'OLDEST', ''],
      [
        'host',
        host.state,
        '',
        '',
        '',
        '',
        [host.message, errorText(hostError, at)].filter((part) => part !== '').join('; '),
      ],
      ...tenants.map((tenant) => [
        tenant.name,
        tenant.state,
        String(tenant.partition),
        tenant.hostNamespace,
        tenant.behind === 0 ? '' : String(tenant.behind),
        ageOf(tenant.oldest, at),
        remarks(tenant),
      ]),
    ]),
  ]
}

/** The translator's and the writer's work, that of watchers only where nobody does it: how late it is no message tells. */
function partitionRows({ work, at, partitions }: StatusReport): string[][] {
  const isFew = (partitions[0]?.of ?? 0) <= FEW_PARTITIONS
  const isShown = ({ role, owner, behind, lastError }: PartitionState): boolean =>
    owner === undefined || behind > 0 || lastError !== undefined || (isFew && role !== 'watcher')
  return work
    .filter(isShown)
    .toSorted((a, b) => a.partition - b.partition)
    .map(({ role, partition, owner, behind, since, lastError }) => [
      String(partition),
      role,
      role === 'watcher' ? '' : String(behind),
      ageOf(since, at),
      owner ?? 'nobody',
      errorText(lastError, at),
    ])
}

function remarks({ name, message, held, waiting, dropped, lastError }: TenantStatus): string {
  return [
    message,
    held === undefined ? '' : holdMessage(name, held),
    waitingSummary({ counts: waiting }),
    dropped === 0 ? '' : `${dropped} dropped by the operator`,
    lastError === undefined ? '' : `last: ${lastError}`,
  ]
    .filter((text) => text !== '')
    .join('; ')
}

function errorText(error: { at: number; message: string } | undefined, at: number): string {
  return error === undefined ? '' : `${ageOf(error.at, at)} ago: ${error.message}`
}

/** How long ago something was, for people; empty where it was not. */
function ageOf(since: number | undefined, at: number): string {
  if (since === undefined) return ''
  const seconds = Math.max(0, Math.round((at - since) / 1_000))
  if (seconds < 120) return `${seconds} s`
  if (seconds < 7_200) return `${Math.round(seconds / 60)} min`
  return seconds < 172_800 ? `${Math.round(seconds / 3_600)} h` : `${Math.round(seconds / 86_400)} d`
}
