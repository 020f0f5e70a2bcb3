import { type TemplateResult, html, svg } from 'lit-html'
import type { LatencyView, StageName } from '../../views.ts'
import { count, duration } from '../format.ts'

const CELL = 14
const HEIGHT = 20
const GAP = 1

/** What the stages are, in words. */
const STAGE_WORDS: Readonly<Record<StageName, string>> = {
  watch: 'from the watch event until it is in the log',
  decide: 'until the translator has decided',
  log: 'until the intent is in the log',
  queue: 'until the writer begins',
  api: 'until the API has answered',
  total: 'all of it',
}

/** Shades, from one millisecond up: each is three times as long as the one before. */
const SHADES = 9

/** Which shade stands for a latency. */
function shadeOf(ms: number): number {
  return Math.max(0, Math.min(SHADES - 1, Math.floor(Math.log(Math.max(ms, 1)) / Math.log(3))))
}

/** Latency by stage and time: a row for each stage, a column for each minute of the last hour; the darker the slower. */
export function heatMap(latency: LatencyView): TemplateResult {
  const { p95, now, from, counts } = latency
  const minutes = counts.length
  const width = minutes * CELL
  const at = (minute: number): string => new Date(from + minute * 60_000).toISOString().slice(11, 16)
  const cell = (stage: StageName, minute: number, ms: number | null) => svg`<rect
      class=${ms === null ? 'heat none' : `heat heat-${shadeOf(ms)}`}
      x=${minute * CELL} y="0" width=${CELL - GAP} height=${HEIGHT - GAP} rx="2"
    ><title>${at(minute)}  ${stage} p95 ${duration(ms)}, ${count(counts[minute] ?? 0)} syncs</title></rect>`
  return html`<table class="heat-map">
      <caption class="sr">
        Sync latency by stage over the last hour, 95th percentile
      </caption>
      <thead>
        <tr>
          <th scope="col">stage</th>
          <th scope="col" class="wide">
            <span class="axis"
              ><span>${at(0)}</span><span>last hour, p95 by minute</span><span>${at(minutes - 1)} UTC</span></span
            >
          </th>
          <th scope="col">p50 now</th>
          <th scope="col">p95</th>
          <th scope="col">p99</th>
        </tr>
      </thead>
      <tbody>
        ${p95.map(({ stage, minutes: row }) => {
          const current = now.find((each) => each.stage === stage)
          return html`<tr class=${stage}>
            <th scope="row" title=${STAGE_WORDS[stage]}>${stage}</th>
            <td class="wide">
              <svg
                viewBox="0 0 ${width} ${HEIGHT}"
                preserveAspectRatio="none"
                role="img"
                aria-label="${stage}, ${STAGE_WORDS[stage]}"
              >
                ${row.map((ms, minute) => cell(stage, minute, ms))}
              </svg>
            </td>
            <td class="number">${duration(current?.p50)}</td>
            <td class="number">${duration(current?.p95)}</td>
            <td class="number">${duration(current?.p99)}</td>
          </tr>`
        })}
      </tbody>
    </table>
    <p class="legend" aria-hidden="true">
      ${Array.from({ length: SHADES }, (_, shade) => html`<span><i class="heat-${shade}"></i>${shade === 0 ? '< 3 ms' : shade === SHADES - 1 ? `> ${duration(3 ** shade)}` : duration(3 ** shade)}</span>`)}
    </p>`
}
