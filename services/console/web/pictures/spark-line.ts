import { type TemplateResult, html, nothing, svg } from 'lit-html'

/** A bar for each minute, the last at the right; the tallest is as high as there is room. */
export function sparkLine(
  values: readonly number[],
  options: { width: number; height: number; label: string },
): TemplateResult {
  const { width, height, label } = options
  const most = Math.max(...values, 1)
  const step = width / values.length
  const bars = values.map((value, index) => {
    if (value === 0) return nothing
    const tall = Math.max(1.5, (value / most) * height)
    return svg`<rect x=${(index * step).toFixed(2)} y=${(height - tall).toFixed(2)} width=${Math.max(0.8, step - 0.4).toFixed(2)} height=${tall.toFixed(2)} />`
  })
  return html`<svg
    class="spark"
    width=${width}
    height=${height}
    viewBox="0 0 ${width} ${height}"
    role="img"
    aria-label=${label}
  >
    <line x1="0" x2=${width} y1=${height - 0.25} y2=${height - 0.25} />
    ${bars}
  </svg>`
}
