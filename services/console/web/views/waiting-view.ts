import { type TemplateResult, html, nothing } from 'lit-html'
import type { WaitingPage } from '../../views.ts'
import { ask, order } from '../api.ts'
import { ago, count, fullName } from '../format.ts'
import { Loaded } from '../loaded.ts'
import { problemLine } from '../parts/words.ts'
import { type Place, hrefOf } from '../place.ts'
import type { View, ViewContext } from '../view.ts'

const PAGE = 50

type Item = WaitingPage['items'][number]

/** What waits, and what for; operators have it tried again. */
export function waitingView(context: ViewContext): View {
  let { query } = context.place
  let page: (string | undefined)[] = [undefined]
  const waiting = new Loaded<WaitingPage>(() => context.update())
  const load = (): void =>
    void waiting.load(() =>
      ask<WaitingPage>(
        '/waiting',
        { tenant: query['tenant'], reason: query['reason'], after: page.at(-1), limit: PAGE },
        context.signal,
      ),
    )
  const turn = (pages: (string | undefined)[]): void => {
    page = pages
    load()
  }
  const choose = (change: Record<string, string>): void => {
    location.hash = hrefOf('waiting', [], { ...query, ...change })
  }
  load()
  return {
    title: 'Waiting',
    onFleet: load,
    onPlace: ({ query: next }: Place) => {
      query = next
      turn([undefined])
      return true
    },
    render: () => {
      const fleet = context.fleet()
      const reasons = Object.keys(fleet?.waiting ?? {}).toSorted()
      const { value } = waiting
      return html`
        <header class="bar-of-fields">
          <h1>Waiting ${value === undefined ? nothing : html`<small>${count(value.total)}</small>`}</h1>
          <select
            aria-label="reason"
            @change=${(event: Event) => choose({ reason: (event.target as HTMLSelectElement).value })}
          >
            <option value="">any reason</option>
            ${[...new Set([...reasons, ...(query['reason'] ? [query['reason']] : [])])].map(
              (reason) => html`<option value=${reason} ?selected=${reason === query['reason']}>${reason}</option>`,
            )}
          </select>
          <input
            type="text"
            class="search"
            aria-label="tenant"
            placeholder="tenant; empty for all"
            spellcheck="false"
            autocomplete="off"
            .value=${query['tenant'] ?? ''}
            @change=${(event: Event) => choose({ tenant: (event.target as HTMLInputElement).value.trim() })}
          />
        </header>
        ${problemLine(waiting.problem)}
        ${value?.items.length === 0 ? html`<p class="empty">Nothing waits: every object is where it should be.</p>` : nothing}
        ${value === undefined || value.items.length === 0 ? nothing : table(value.items, context)}
        <p>
          ${page.length > 1 ? html`<button @click=${() => turn(page.slice(0, -1))}>back</button>` : nothing}
          ${value?.next === undefined ? nothing : html`<button @click=${() => turn([...page, value.next])}>more</button>`}
        </p>
      `
    },
  }
}

function table(items: readonly Item[], context: ViewContext): TemplateResult {
  const isOperator = context.fleet()?.isOperator === true
  return html`<table class="plain waiting">
    <thead>
      <tr>
        <th scope="col">tenant</th>
        <th scope="col">object</th>
        <th scope="col">waits for</th>
        <th scope="col">what to do</th>
        <th scope="col">since</th>
        ${isOperator ? html`<th scope="col"><span class="sr">retry</span></th>` : nothing}
      </tr>
    </thead>
    <tbody>
      ${items.map(
        (item) =>
          html`<tr>
            <td><a href=${hrefOf('tenant', [item.tenant])}>${item.tenant}</a></td>
            <td>
              <a
                href=${hrefOf('object', [item.tenant, item.resource, item.namespace === '' ? '_' : item.namespace, item.name])}
                ><span class="dim">${item.resource}</span> ${fullName(item)}</a
              >
            </td>
            <td class="warn">${item.reason}</td>
            <td>${item.remedy}</td>
            <td class="number dim" title=${new Date(item.since).toISOString()}>${ago(item.since, context.now())}</td>
            ${isOperator ? html`<td><button @click=${() => retry(item, context)}>retry</button></td>` : nothing}
          </tr>`,
      )}
    </tbody>
  </table>`
}

/** Has one object tried now. */
export function retry(
  { tenant, resource, namespace, name }: { tenant: string; resource: string; namespace: string; name: string },
  context: Pick<ViewContext, 'operate'>,
): void {
  context.operate(async (token) => {
    const path = `/tenants/${encodeURIComponent(tenant)}/retry`
    const { tried } = await order<{ tried: number }>(path, { resource, namespace, name }, token)
    return tried === 0 ? `${name}: nothing of it waits any more` : `${name} is tried now`
  })
}
