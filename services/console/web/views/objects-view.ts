import { html, nothing } from 'lit-html'
import { count } from '../format.ts'
import { ANY_OBJECT, type ObjectChoice, choiceFields, objectList } from '../parts/object-list.ts'
import { hrefOf } from '../place.ts'
import type { View, ViewContext } from '../view.ts'

/** Search for objects by a part of the name: of a tenant, or over all. */
export function objectsView(context: ViewContext): View {
  const { query } = context.place
  let tenant = query['tenant'] ?? ''
  let choice: ObjectChoice = {
    ...ANY_OBJECT,
    search: query['search'] ?? '',
    side: query['side'] ?? '',
    resource: query['resource'] ?? '',
    namespace: query['namespace'] ?? '',
  }
  let isCut = false
  const isAsked = (): boolean => tenant !== '' || choice.search !== ''
  const list = objectList(context, {
    label: 'Objects',
    path: () => {
      if (!isAsked()) return undefined
      return tenant === '' ? '/objects' : `/tenants/${encodeURIComponent(tenant)}/objects`
    },
    query: () => choice,
    onPage: (page) => {
      ;({ isCut } = page)
    },
  })
  const choose = (next: ObjectChoice): void => {
    choice = next
    history.replaceState(null, '', hrefOf('objects', [], { tenant, ...choice }))
    list.reset()
  }
  return {
    title: 'Objects',
    onFleet: () => list.refresh(),
    render: () => html`
      <header class="bar-of-fields">
        <h1>Objects ${list.total === undefined || !isAsked() ? nothing : html`<small>${count(list.total)}</small>`}</h1>
        <input
          type="text"
          aria-label="tenant"
          placeholder="tenant; empty for all"
          spellcheck="false"
          autocomplete="off"
          .value=${tenant}
          @change=${(event: Event) => {
            tenant = (event.target as HTMLInputElement).value.trim()
            choose(choice)
          }}
        />
        ${choiceFields(choice, choose, 'A part of the name')}
      </header>
      <p class="dim">Deleted objects are found for four days.</p>
      ${
        isCut && isAsked()
          ? html`<p class="problem">
              There may be more: not all tenants were looked through. Name one, or more of the name.
            </p>`
          : nothing
      }
      ${list.render()}
    `,
  }
}
