import { type TemplateResult, html, nothing } from 'lit-html'
import type { SideState, SidesView } from '../../views.ts'
import { fullName } from '../format.ts'
import { folded, lineDiff } from '../line-diff.ts'

/** Equal lines that stay in sight around each difference. */
const AROUND = 3

/** The YAML of both sides, side by side, with what differs marked. */
export function sidesTable({ virtual, host }: SidesView, isWhole: boolean): TemplateResult {
  const rows = lineDiff(virtual.yaml ?? '', host.yaml ?? '')
  const isOneAlone = virtual.yaml === undefined || host.yaml === undefined
  const shown = isWhole || isOneAlone ? rows : folded(rows, AROUND)
  return html`<div class="sides" tabindex="0" role="region" aria-label="Both sides">
    <table>
      <thead>
        <tr>
          <th scope="col">tenant ${head(virtual)}</th>
          <th scope="col">host ${head(host)}</th>
        </tr>
      </thead>
      <tbody>
        ${shown.map((row) =>
          'skipped' in row
            ? html`<tr class="skipped">
                <td colspan="2">${row.skipped} equal lines</td>
              </tr>`
            : html`<tr class=${row.isSame ? '' : 'differs'}>
                ${cell(row.left, isOneAlone)}${cell(row.right, isOneAlone)}
              </tr>`,
        )}
      </tbody>
    </table>
  </div>`
}

function head(side: SideState): TemplateResult {
  const how = side.isDeleted ? 'deleted' : side.yaml === undefined ? 'not there' : ''
  return html`<code>${fullName(side)}</code>${how === '' ? nothing : html` <span class="warn">${how}</span>`}`
}

function cell(line: string | undefined, isPlain: boolean): TemplateResult {
  return html`<td class=${line === undefined ? 'nothing' : isPlain ? 'plain' : ''}>${line ?? ''}</td>`
}
