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

/** Columns are cut no narrower than this, and the last one, which is wrapped, no narrower than that. */
const NARROWEST = 8
const NARROWEST_LAST = 24

/**
 * Pads each column to its widest cell.
 * @param width of the terminal: where lines would be longer, the widest columns are cut, and the last one, which holds
 *   sentences, goes on in lines below. @default as wide as it takes
 */
export function align(rows: readonly (readonly string[])[], width = Number.POSITIVE_INFINITY): string[] {
  const columns = Math.max(0, ...rows.map(({ length }) => length))
  const natural = Array.from({ length: columns }, (_, at) => Math.max(...rows.map((row) => (row[at] ?? '').length)))
  const widths = fitted(natural, width - GAP.length * (columns - 1))
  return rows.flatMap((row) => {
    const last = columns - 1
    const cut = row.map((cell, at) => (at === last ? cell : shortened(cell, widths[at] ?? 0)))
    const [first = '', ...below] = wrapped(row[last] ?? '', widths[last] ?? 0)
    const lines = [row.length === columns ? cut.with(last, first) : cut, ...below.map((text) => padded(text, last))]
    return lines.map((cells) =>
      cells
        .map((cell, at) => cell.padEnd(widths[at] ?? 0))
        .join(GAP)
        .trimEnd(),
    )
  })
}

const GAP = '  '

/** The widths of columns that together have no more than `room`: the widest give way first, each as far as it may. */
function fitted(natural: readonly number[], room: number): number[] {
  const last = natural.length - 1
  const widths = [...natural]
  const widestFirst = natural.map((_, at) => at).toSorted((a, b) => (natural[b] ?? 0) - (natural[a] ?? 0))
  for (const at of widestFirst) {
    const over = widths.reduce((sum, each) => sum + each, 0) - room
    if (over <= 0) break
    const width = widths[at] ?? 0
    widths[at] = Math.max(Math.min(width, at === last ? NARROWEST_LAST : NARROWEST), width - over)
  }
  return widths
}

function shortened(cell: string, width: number): string {
  return cell.length <= width ? cell : `${cell.slice(0, width - 1)}…`
}

/** A text in lines of at most `width`, broken between words where it can be. */
function wrapped(text: string, width: number): string[] {
  const lines: string[] = []
  let rest = text
  while (rest.length > width && width > 0) {
    const space = rest.lastIndexOf(' ', width)
    const end = space > 0 ? space : width
    lines.push(rest.slice(0, end))
    rest = rest.slice(end).trimStart()
  }
  return [...lines, rest]
}

function padded(text: string, before: number): string[] {
  return [...Array.from({ length: before }, () => ''), text]
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
