import type { SyncRow } from './sync-rows.ts'

/** Names of the stages are those of docs/operations.md. The host object comes last: it is the longest, and may be cut. */
const HEAD = [
  'TENANT',
  'OBJECT',
  'PHASE',
  'NODE',
  'WATCH',
  'DECIDE',
  'LOG',
  'QUEUE',
  'API',
  'TOTAL ms',
  'HOST OBJECT',
  '',
]

const FIRST_STAGE = HEAD.indexOf('WATCH')
const TOTAL = HEAD.indexOf('TOTAL ms')

/**
 * The table's lines, columns aligned and no line longer than `width`; at most `limit` rows, the newest last. Where the
 * stages do not fit, the total alone is shown: a figure that is cut would be read as another.
 */
export function renderTable(rows: readonly SyncRow[], options: { width: number; limit: number }): string[] {
  const shown = rows.slice(-options.limit)
  const all = [HEAD, ...shown.map(cellsOf)]
  const untilTotal = align(all.map((row) => row.slice(0, TOTAL + 1)))
  const fits = untilTotal.every((line) => line.length <= options.width)
  const cells = fits ? all : all.map((row) => [...row.slice(0, FIRST_STAGE), ...row.slice(TOTAL)])
  const lines = align(cells).map((line) => line.slice(0, options.width))
  const hidden = rows.length - shown.length
  return hidden > 0 ? [...lines, `… and ${hidden} more above`.slice(0, options.width)] : lines
}

/** One row as a line of a log: for output that is no terminal. */
export function renderLine(row: SyncRow): string {
  const { tenant, object, hostName, phase, node, stages, note } = row
  const total = stages === undefined ? '' : totalOf(stages).toFixed(1)
  return [`${tenant} ${object}`, hostName && `→ ${hostName}`, phase, node && `on ${node}`, total && `${total} ms`, note]
    .filter((part) => part !== '')
    .join('  ')
}

/** Pads each column to its widest cell. */
export function align(rows: readonly (readonly string[])[]): string[] {
  const widths: number[] = []
  for (const row of rows)
    for (const [index, cell] of row.entries()) widths[index] = Math.max(widths[index] ?? 0, cell.length)
  return rows.map((row) =>
    row
      .map((cell, index) => cell.padEnd(widths[index] ?? 0))
      .join('  ')
      .trimEnd(),
  )
}

function cellsOf(row: SyncRow): string[] {
  const { stages } = row
  const times =
    stages === undefined
      ? ['', '', '', '', '', '']
      : [stages.watch, stages.decide, stages.log, stages.queue, stages.api, totalOf(stages)].map((ms) => ms.toFixed(1))
  return [row.tenant, row.object, row.phase, row.node, ...times, row.hostName, row.note]
}

function totalOf(stages: NonNullable<SyncRow['stages']>): number {
  return stages.watch + stages.decide + stages.log + stages.queue + stages.api
}
