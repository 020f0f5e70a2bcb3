import { type TemplateResult, html, nothing } from 'lit-html'
import type { StoryEntry } from '#libs/explain'
import { clockTime, duration } from '../format.ts'

const DIFFERENCES_SHOWN = 6
const VALUE_LENGTH = 80

type Options = { at: number | undefined; now: number; select(at: number): void }

/** The entries of a story, the latest last; the one that is chosen says what both sides are shown as of. */
export function timeline(entries: readonly StoryEntry[], options: Options): TemplateResult {
  if (entries.length === 0) return html`<p class="empty">The log holds nothing about it.</p>`
  return html`<ol class="timeline" @keydown=${(event: KeyboardEvent) => onKey(event)}>
    ${entries.map((entry) => {
      const isChosen = options.at === entry.at
      return html`<li class="${entry.kind} ${moodOf(entry)}">
        <button
          class="entry ${isChosen ? 'chosen' : ''}"
          aria-pressed=${isChosen ? 'true' : 'false'}
          title="show both sides as of then"
          @click=${() => options.select(entry.at)}
        >
          <time>${clockTime(entry.at, options.now)}</time>
          <span class="where">${entry.side === 'virtual' ? 'tenant' : 'host'}</span>
          <span class="what">${words(entry)}</span>
        </button>
        ${more(entry)}
      </li>`
    })}
  </ol>`
}

/** Arrows go from entry to entry. */
function onKey(event: KeyboardEvent): void {
  const step = { ArrowDown: 1, ArrowUp: -1, j: 1, k: -1 }[event.key]
  const list = event.currentTarget as HTMLElement
  if (step === undefined) return
  const buttons = [...list.querySelectorAll<HTMLButtonElement>('button.entry')]
  const next = buttons[buttons.indexOf(document.activeElement as HTMLButtonElement) + step]
  if (next === undefined) return
  event.preventDefault()
  next.focus()
  next.click()
}

function moodOf(entry: StoryEntry): string {
  if (entry.kind === 'unreadable') return 'bad'
  if (entry.kind !== 'outcome') return ''
  if (entry.result === 'done') return 'good'
  return entry.result === 'parked' || entry.result === 'refused' ? 'bad' : ''
}

function words(entry: StoryEntry): TemplateResult {
  switch (entry.kind) {
    case 'change':
      return html`<b>${entry.type.toLowerCase()}</b> version ${entry.resourceVersion}
        <span class="dim">${entry.writtenBy === undefined ? 'by somebody else' : 'the echo of our write'}</span>`
    case 'intent':
      return html`<b>${entry.op}</b> decided: ${entry.because}
        ${entry.attempt > 0 ? html`<span class="dim">attempt ${entry.attempt + 1}</span>` : nothing}`
    case 'outcome':
      return html`<b>${entry.result}</b> ${entry.reason ?? ''}
        <span class="dim">${entry.op} ${entry.result === 'done' ? `after ${duration(entry.stages.total)}` : ''}</span>`
    case 'unreadable':
      return html`<b>unreadable</b> ${entry.problem}`
  }
}

function more(entry: StoryEntry): TemplateResult | typeof nothing {
  if (entry.kind === 'outcome' && entry.message !== undefined) return html`<p class="said">${entry.message}</p>`
  if (entry.kind === 'intent' && entry.sent?.message !== undefined)
    return html`<p class="said">${entry.sent.message}</p>`
  if (entry.kind !== 'change' || entry.differences.length === 0) return nothing
  const shown = entry.differences.slice(0, DIFFERENCES_SHOWN)
  const rest = entry.differences.length - shown.length
  return html`<ul class="differences">
    ${shown.map(
      ({ path, from, to }) =>
        html`<li>
          <code>${path}</code> ${from === undefined ? nothing : html`<del>${value(from)}</del>`}
          ${to === undefined ? nothing : html`<ins>${value(to)}</ins>`}
        </li>`,
    )}
    ${rest === 0 ? nothing : html`<li class="dim">and ${rest} more</li>`}
  </ul>`
}

function value(json: unknown): string {
  const text = JSON.stringify(json) ?? ''
  return text.length > VALUE_LENGTH ? `${text.slice(0, VALUE_LENGTH)}…` : text
}
