/** Bars to the right, one group for each row; stacked, or one below the other. */
export type BarChart = {
  title: string
  /** What is drawn, in what unit. */
  unit: string
  /** What the colours stand for. */
  series: readonly string[]
  rows: readonly { label: string; values: readonly number[] }[]
  stacked?: boolean
}

const WIDTH = 760
const LABELS = 250
const RIGHT = 70
const BAR = 16
const BETWEEN_BARS = 2
const BETWEEN_ROWS = 12
const TOP = 66
const CHARACTER = 6.8
/** Told apart on white and on black, and by those who see red and green alike. */
const COLOURS = ['#4477aa', '#ee8866', '#44bb99', '#bbaa33', '#aa4499', '#888888']

/** Draws a chart as SVG that is readable on a light and on a dark page. */
export function drawBars(chart: BarChart): string {
  const { title, unit, series, rows, stacked = false } = chart
  const barsEach = stacked ? 1 : series.length
  const rowHeight = barsEach * (BAR + BETWEEN_BARS) + BETWEEN_ROWS
  const height = TOP + rows.length * rowHeight + 8
  const lengthOf = ({ values }: { values: readonly number[] }): number =>
    stacked ? values.reduce((sum, value) => sum + value, 0) : Math.max(0, ...values)
  const longest = Math.max(...rows.map(lengthOf), Number.MIN_VALUE)
  const scale = (WIDTH - LABELS - RIGHT) / longest
  const parts = rows.flatMap((row, index) => {
    const y = TOP + index * rowHeight
    const label = text(LABELS - 10, y + (barsEach * (BAR + BETWEEN_BARS)) / 2 + 4, row.label, 'end')
    return [label, ...(stacked ? stackedBars(row.values, y, scale) : groupedBars(row.values, y, scale))]
  })
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}" role="img">`,
    `<title>${escape(title)}</title>`,
    '<style>.b{fill:#fff}text{font:12px system-ui,sans-serif;fill:#1f2328}.t{font-weight:600;font-size:14px}.v{font-size:11px}',
    '@media(prefers-color-scheme:dark){.b{fill:#0d1117}text{fill:#e6edf3}}</style>',
    // Of its own: a page may be dark where the reader's system is light.
    `<rect class="b" width="${WIDTH}" height="${height}"/>`,
    `<text class="t" x="8" y="20">${escape(title)}</text>`,
    ...legend(series, unit),
    ...parts,
    '</svg>',
    '',
  ].join('\n')
}

function legend(series: readonly string[], unit: string): string[] {
  let x = 8
  const entries = series.flatMap((name, index) => {
    const at = x
    x += 16 + name.length * CHARACTER + 14
    return [bar({ x: at, y: 34, width: 10, height: 10, index }), text(at + 16, 43, name)]
  })
  return [...entries, text(WIDTH - 8, 43, unit, 'end')]
}

function stackedBars(values: readonly number[], y: number, scale: number): string[] {
  let x = LABELS
  const bars = values.map((value, index) => {
    const at = x
    x += value * scale
    return bar({ x: at, y, width: value * scale, height: BAR, index })
  })
  return [
    ...bars,
    valueText(
      x,
      y,
      values.reduce((sum, value) => sum + value, 0),
    ),
  ]
}

function groupedBars(values: readonly number[], y: number, scale: number): string[] {
  return values.flatMap((value, index) => {
    const top = y + index * (BAR + BETWEEN_BARS)
    return [
      bar({ x: LABELS, y: top, width: value * scale, height: BAR, index }),
      valueText(LABELS + value * scale, top, value),
    ]
  })
}

function bar(of: { x: number; y: number; width: number; height: number; index: number }): string {
  const colour = COLOURS[of.index % COLOURS.length] ?? ''
  return `<rect x="${round(of.x)}" y="${round(of.y)}" width="${round(of.width)}" height="${of.height}" fill="${colour}"/>`
}

function valueText(x: number, y: number, value: number): string {
  const shown = value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2)
  return `<text class="v" x="${round(x + 5)}" y="${round(y + BAR - 4)}">${shown}</text>`
}

function text(x: number, y: number, content: string, anchor: 'start' | 'end' = 'start'): string {
  return `<text x="${round(x)}" y="${round(y)}" text-anchor="${anchor}">${escape(content)}</text>`
}

function round(value: number): number {
  return Math.round(value * 10) / 10
}

function escape(content: string): string {
  return content.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
