export type Cell = string | number | undefined

/** A text table: text to the left, numbers to the right, a dash for what is not there. */
export function table(head: readonly string[], rows: readonly (readonly Cell[])[]): string {
  const cells = rows.map((row) => head.map((_, index) => formatCell(row[index])))
  const widths = head.map((title, index) => Math.max(title.length, ...cells.map((row) => row[index]?.length ?? 0)))
  const isNumber = head.map(
    (_, index) => rows.length > 0 && rows.every((row) => row[index] === undefined || typeof row[index] === 'number'),
  )
  const line = (row: readonly string[]): string =>
    `| ${row
      .map((text, index) => (isNumber[index] ? text.padStart(widths[index] ?? 0) : text.padEnd(widths[index] ?? 0)))
      .join(' | ')} |`
  const rule = `|${widths.map((width, index) => `${'-'.repeat(width + 1)}${isNumber[index] ? ':' : '-'}`).join('|')}|`
  return [line(head), rule, ...cells.map(line)].join('\n')
}

/** As many digits as the size of the number is worth. */
export function formatNumber(value: number): string {
  if (Number.isInteger(value)) return String(value)
  return value.toFixed(Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2)
}

function formatCell(cell: Cell): string {
  if (cell === undefined) return '-'
  return typeof cell === 'number' ? formatNumber(cell) : cell
}
