import { type TemplateResult, html, svg } from 'lit-html'
import type { Bar, TraceView } from '../../views.ts'
import { clockTime, duration } from '../format.ts'

const WIDTH = 1_000
const LEAST = 3

/** A trace as a waterfall: a bar for each span, in time from left to right. */
export function waterfall(trace: TraceView['traces'][number], now: number): TemplateResult {
  const { traceId, start, end, bars } = trace
  const span = Math.max(end - start, 0.001)
  return html`<div class="waterfall" role="table" aria-label="trace ${traceId}">
    <div class="bar head" role="row">
      <span role="columnheader">${clockTime(start, now)}</span>
      <span role="columnheader" class="id" title="trace id">${traceId}</span>
      <span role="columnheader" class="number">${duration(end - start)}</span>
    </div>
    ${bars.map((bar) => row(bar, start, span))}
  </div>`
}

function row(bar: Bar, start: number, span: number): TemplateResult {
  const { name, service, depth, isError, message } = bar
  const from = ((bar.start - start) / span) * WIDTH
  const width = Math.max(LEAST, ((bar.end - bar.start) / span) * WIDTH)
  return html`<div class="bar" role="row" title=${message ?? name}>
    <span role="cell" class="what depth-${Math.min(depth, 4)}"><i class="dot ${service}"></i>${name}</span>
    <span role="cell">
      <svg viewBox="0 0 ${WIDTH} 10" preserveAspectRatio="none" aria-hidden="true">
        ${svg`<rect class="${service} ${isError ? 'error' : ''}" x=${Math.min(from, WIDTH - LEAST)} y="1" width=${width} height="8" rx="1" />`}
      </svg>
    </span>
    <span role="cell" class="number ${isError ? 'error' : ''}">${duration(bar.end - bar.start)}</span>
  </div>`
}
