import { expect, test } from 'vitest'
import { drawBars } from './bar-chart.ts'

const widths = (svg: string): number[] =>
  [...svg.matchAll(/<rect [^>]*height="16"[^>]*>/g)].map(([rect]) => Number(/width="([\d.]+)"/.exec(rect)?.[1]))

const rows = [
  { label: 'a & b', values: [10, 20] },
  { label: '<c>', values: [40, 0] },
]
const chart = { title: 'Chart', unit: 'ms', series: ['one', 'two'], rows }

test('the longest bar has all the room there is, the others their share of it', () => {
  const [first = 0, second, third = 0, none] = widths(drawBars(chart))
  expect(third).toBe(440)
  expect([first / third, (second ?? 0) / third, none]).toEqual([0.25, 0.5, 0])
})

test('stacked bars begin where the one before ends, with their sum beside them', () => {
  const svg = drawBars({ ...chart, stacked: true })
  expect(widths(svg)).toEqual([110, 220, 440, 0])
  expect(svg).toContain('x="360" y="66"')
  expect(svg).toContain('>30.0</text>')
})

test('labels are text, whatever is in them', () => {
  expect(drawBars(chart)).toContain('>a &amp; b</text>')
  expect(drawBars(chart)).toContain('>&lt;c&gt;</text>')
})

test('without anything to draw there is still a chart', () => {
  expect(drawBars({ ...chart, rows: [] })).toMatch(/^<svg [\s\S]*<\/svg>\n$/)
})
