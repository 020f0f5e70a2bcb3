import { type TemplateResult, html } from 'lit-html'
import type { FoundObject, FoundPage } from '../../views.ts'
import { ask } from '../api.ts'
import { ago, fullName } from '../format.ts'
import { hrefOf } from '../place.ts'
import type { ViewContext } from '../view.ts'
import { PagedList } from './paged-list.ts'
import { badge } from './words.ts'

/** What objects are chosen by; empty for any. */
export type ObjectChoice = { search: string; side: string; resource: string; namespace: string }

export const ANY_OBJECT: ObjectChoice = { search: '', side: '', resource: '', namespace: '' }

/** Where an object's story is told. A copy on the host is asked whose it is. */
function storyHref(object: FoundObject, at?: number): string {
  const { tenant, side, resource, namespace, name } = object
  const path = [resource, namespace === '' ? '_' : namespace, name]
  const query = at === undefined ? {} : { at: String(at) }
  return side === 'virtual' ? hrefOf('object', [tenant, ...path], query) : hrefOf('object', ['@host', ...path], query)
}

/** A list of objects from any path of the API that gives pages of them. */
export function objectList(
  context: ViewContext,
  options: {
    label: string
    path: () => string | undefined
    query: () => Record<string, string | number>
    at?: () => number | undefined
    /** Told of each page. */
    onPage?: (page: FoundPage) => void
  },
): PagedList<FoundObject> {
  const { label, path, query, at, onPage } = options
  return new PagedList<FoundObject>({
    label,
    name: 'objects',
    header: html`<span>side</span><span>resource</span><span>object</span><span>tenant</span><span>seen</span>`,
    empty: 'Nothing is called so.',
    update: () => context.update(),
    href: (object) => storyHref(object, at?.()),
    load: async (offset, limit) => {
      const address = path()
      if (address === undefined) return { total: 0, items: [] }
      const page = await ask<FoundPage>(address, { ...query(), offset, limit }, context.signal)
      onPage?.(page)
      return page
    },
    row: (object) => html`
      <span>${badge(object.side === 'virtual' ? 'tenant' : 'host', 'quiet')}</span>
      <span class="dim" title=${object.kind}>${object.resource}</span>
      <span class="strong ${object.isDeleted ? 'gone' : ''}" title=${fullName(object)}>${fullName(object)}</span>
      <span class="dim">${object.tenant === '' ? 'all' : object.tenant}</span>
      <span class="dim number">${object.isDeleted ? 'deleted ' : ''}${ago(object.at, context.now())}</span>
    `,
  })
}

/** Fields that narrow a choice down. */
export function choiceFields(
  choice: ObjectChoice,
  change: (choice: ObjectChoice) => void,
  words: string,
): TemplateResult {
  const field = (name: 'resource' | 'namespace', placeholder: string): TemplateResult =>
    html`<input
      type="text"
      aria-label=${name}
      placeholder=${placeholder}
      spellcheck="false"
      autocomplete="off"
      .value=${choice[name]}
      @change=${(event: Event) => change({ ...choice, [name]: (event.target as HTMLInputElement).value.trim() })}
    />`
  return html`
    <input
      type="search"
      class="search"
      aria-label=${words}
      placeholder=${words}
      spellcheck="false"
      autocomplete="off"
      .value=${choice.search}
      @input=${(event: Event) => change({ ...choice, search: (event.target as HTMLInputElement).value.trim() })}
    />
    <select
      aria-label="side"
      @change=${(event: Event) => change({ ...choice, side: (event.target as HTMLSelectElement).value })}
    >
      <option value="">both sides</option>
      <option value="virtual" ?selected=${choice.side === 'virtual'}>tenant</option>
      <option value="host" ?selected=${choice.side === 'host'}>host</option>
    </select>
    ${field('resource', 'resource, such as pods')} ${field('namespace', 'namespace')}
  `
}
