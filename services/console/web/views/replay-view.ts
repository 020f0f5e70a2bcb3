import { html, nothing } from 'lit-html'
import type { AsOfPage } from '../../views.ts'
import { ask } from '../api.ts'
import { count, fromTimeField, toTimeField } from '../format.ts'
import { ANY_OBJECT, type ObjectChoice, choiceFields, objectList } from '../parts/object-list.ts'
import { hrefOf } from '../place.ts'
import type { View, ViewContext } from '../view.ts'

const STEPS: readonly (readonly [string, number])[] = [
  ['−1 h', -3_600_000],
  ['−10 min', -600_000],
  ['−1 min', -60_000],
  ['+1 min', 60_000],
  ['+10 min', 600_000],
]

/** The objects of a tenant as they were at a time, from the log. */
export function replayView(context: ViewContext): View {
  const { query } = context.place
  let tenant = query['tenant'] ?? ''
  let at = Number(query['at']) || Math.floor(context.now() / 1_000) * 1_000
  let choice: ObjectChoice = { ...ANY_OBJECT, namespace: query['namespace'] ?? '' }
  let isCut = false
  const list = objectList(context, {
    label: 'Objects as of the time',
    path: () => (tenant === '' ? undefined : `/tenants/${encodeURIComponent(tenant)}/as-of`),
    query: () => ({ ...choice, at }),
    at: () => at,
  })
  const look = (): void => {
    history.replaceState(null, '', hrefOf('replay', [], { tenant, at: String(at), namespace: choice.namespace }))
    isCut = false
    list.reset()
    if (tenant === '') return
    void ask<AsOfPage>(`/tenants/${encodeURIComponent(tenant)}/as-of`, { at, limit: 1 }, context.signal).then(
      (page) => {
        ;({ isCut } = page)
        context.update()
      },
      () => undefined,
    )
  }
  const moveTo = (time: number): void => {
    at = Math.min(time, Math.floor(context.now() / 1_000) * 1_000)
    look()
  }
  return {
    title: 'Replay',
    render: () => html`
      <header class="bar-of-fields">
        <h1>As of a time</h1>
        <input
          type="text"
          class="search"
          aria-label="tenant"
          placeholder="tenant"
          spellcheck="false"
          autocomplete="off"
          .value=${tenant}
          @change=${(event: Event) => {
            tenant = (event.target as HTMLInputElement).value.trim()
            look()
          }}
        />
        <label
          >UTC
          <input
            type="datetime-local"
            step="1"
            aria-label="time, UTC"
            .value=${toTimeField(at)}
            @change=${(event: Event) => moveTo(fromTimeField((event.target as HTMLInputElement).value) ?? at)}
        /></label>
        ${STEPS.map(([words, ms]) => html`<button @click=${() => moveTo(at + ms)}>${words}</button>`)}
        <button @click=${() => moveTo(context.now())}>now</button>
      </header>
      <header class="bar-of-fields">
        <h2>
          Objects ${list.total === undefined || tenant === '' ? nothing : html`<small>${count(list.total)}</small>`}
        </h2>
        ${choiceFields(
          choice,
          (next) => {
            choice = next
            list.reset()
          },
          'A part of the name',
        )}
      </header>
      ${
        isCut
          ? html`<p class="problem">The log no longer reaches back to then: what it has lost may be missing here.</p>`
          : nothing
      }
      ${tenant === '' ? html`<p class="empty">Name a tenant, and a time.</p>` : list.render()}
    `,
  }
}
