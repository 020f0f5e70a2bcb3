import { type TemplateResult, html, nothing } from 'lit-html'

/** How bad a state is, for its colour. */
export type Mood = 'good' | 'busy' | 'bad' | 'quiet'

/** States of APIs, as watchers tell them. */
export function moodOf(state: string): Mood {
  switch (state) {
    case 'synced':
      return 'good'
    case 'listing':
    case 'unknown':
      return 'busy'
    case 'absent':
      return 'quiet'
    default:
      return 'bad'
  }
}

/** A word with a dot before it that says how bad it is. */
export function badge(text: string, mood: Mood, title?: string): TemplateResult {
  return html`<span class="badge ${mood}" title=${title ?? nothing}>${text}</span>`
}

/** One figure with its name. */
export function tile(name: string, figure: unknown, more: unknown = nothing): TemplateResult {
  return html`<div class="tile">
    <div class="name">${name}</div>
    <div class="figure">${figure}</div>
    <div class="more">${more}</div>
  </div>`
}

/** Why there is nothing to show, where that is so. */
export function problemLine(problem: string | undefined): TemplateResult | typeof nothing {
  return problem === undefined ? nothing : html`<p class="problem" role="alert">${problem}</p>`
}
