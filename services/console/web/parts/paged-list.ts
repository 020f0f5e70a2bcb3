import { type TemplateResult, html, nothing } from 'lit-html'
import { ref } from 'lit-html/directives/ref.js'
import { repeat } from 'lit-html/directives/repeat.js'
import { ApiProblem } from '../api.ts'

export type PagedListOptions<T> = {
  /** What the list is of, for those who do not see it. */
  label: string
  /** Class of the list, which says how wide its columns are. */
  name: string
  header: TemplateResult
  /** Said where there is nothing. */
  empty: string
  load(offset: number, limit: number): Promise<{ total: number; items: T[] }>
  row(item: T): TemplateResult
  /** Where a row leads. */
  href(item: T): string
  update(): void
}

const ROW_HEIGHT = 28
const PAGE = 50
/** Rows beyond the edges, so that a little scrolling shows nothing empty. */
const MARGIN = 8
/** Rows that are in sight, but for the head. */
const LEAST_ROWS = 1
const MOST_ROWS = 18
/** Pages that are kept; those far from what is seen are asked for again. */
const PAGES_KEPT = 8

let lists = 0

/**
 * A list of any length: only the rows that can be seen are in the page, and only theirs are asked for. Arrows, Page and
 * Home/End move, Enter opens.
 */
export class PagedList<T> {
  readonly #options: PagedListOptions<T>
  readonly #id = `list-${(lists += 1)}`
  #pages = new Map<number, T[] | 'asked'>()
  #total: number | undefined
  #problem: string | undefined
  #element: HTMLElement | undefined
  #active = 0
  #age = 0

  constructor(options: PagedListOptions<T>) {
    this.#options = options
  }

  get total(): number | undefined {
    return this.#total
  }

  /** Asks afresh, from the top: for another choice. */
  reset(): void {
    this.#total = undefined
    this.#active = 0
    if (this.#element !== undefined) this.#element.scrollTop = 0
    this.#pages = new Map()
    this.#age += 1
    this.#options.update()
  }

  /** Asks again for what can be seen; what is there stays until the answer comes. */
  refresh(): void {
    const { first, last } = this.#window()
    for (const page of this.#pages.keys()) {
      if (page < Math.floor(first / PAGE) || page > Math.floor(last / PAGE)) this.#pages.delete(page)
      else void this.#ask(page)
    }
  }

  render(): TemplateResult {
    const { label, name, header, empty } = this.#options
    const { first, last } = this.#window()
    for (let page = Math.floor(first / PAGE); page <= Math.floor(last / PAGE); page += 1) {
      if (!this.#pages.has(page)) void this.#ask(page)
    }
    const indexes = Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => first + index)
    const height = `${(this.#total ?? 0) * ROW_HEIGHT}px`
    return html`
      <div class="list ${name}">
        <div
          class="rows"
          .style=${`height: ${this.#height()}px`}
          role="listbox"
          tabindex="0"
          aria-label=${label}
          aria-activedescendant=${this.#total ? `${this.#id}-${this.#active}` : nothing}
          ${ref((element) => this.#attach(element))}
          @keydown=${(event: KeyboardEvent) => this.#onKey(event)}
          @scroll=${() => this.#options.update()}
        >
          <div class="row head" aria-hidden="true">${header}</div>
          ${this.#problem === undefined ? nothing : html`<p class="problem">${this.#problem}</p>`}
          ${this.#total === 0 && this.#problem === undefined ? html`<p class="empty">${empty}</p>` : nothing}
          <div class="extent" .style=${`height: ${height}`}>
            ${repeat(
              indexes,
              (index) => index,
              (index) => this.#row(index),
            )}
          </div>
        </div>
      </div>
    `
  }

  #row(index: number): TemplateResult {
    const item = this.#item(index)
    const isActive = index === this.#active
    return html`<a
      class="row ${isActive ? 'active' : ''}"
      id="${this.#id}-${index}"
      role="option"
      tabindex="-1"
      aria-selected=${isActive ? 'true' : 'false'}
      aria-posinset=${index + 1}
      aria-setsize=${this.#total ?? 0}
      .style=${`top: ${index * ROW_HEIGHT}px`}
      href=${item === undefined ? nothing : this.#options.href(item)}
      @click=${() => this.#activate(index)}
      >${item === undefined ? html`<span class="pending">…</span>` : this.#options.row(item)}</a
    >`
  }

  #item(index: number): T | undefined {
    const page = this.#pages.get(Math.floor(index / PAGE))
    return page === undefined || page === 'asked' ? undefined : page[index % PAGE]
  }

  /** As high as its rows, within limits. */
  #height(): number {
    return (1 + Math.max(LEAST_ROWS, Math.min(MOST_ROWS, this.#total ?? LEAST_ROWS))) * ROW_HEIGHT
  }

  /** Rows that are in the page. */
  #window(): { first: number; last: number } {
    const top = this.#element?.scrollTop ?? 0
    const height = this.#element?.clientHeight ?? MOST_ROWS * ROW_HEIGHT
    const first = Math.max(0, Math.floor(top / ROW_HEIGHT) - MARGIN)
    const last = Math.ceil((top + height) / ROW_HEIGHT) + MARGIN
    // Before the first answer, the first page is asked for.
    return { first, last: Math.min(last, (this.#total ?? 1) - 1) }
  }

  async #ask(page: number): Promise<void> {
    const age = this.#age
    if (!this.#pages.has(page)) this.#pages.set(page, 'asked')
    try {
      const { total, items } = await this.#options.load(page * PAGE, PAGE)
      if (age !== this.#age) return
      this.#total = total
      this.#active = Math.min(this.#active, Math.max(0, total - 1))
      this.#pages.set(page, items)
      this.#problem = undefined
      const far = [...this.#pages.keys()].toSorted((a, b) => Math.abs(b - page) - Math.abs(a - page))
      for (const old of far.slice(0, Math.max(0, far.length - PAGES_KEPT))) this.#pages.delete(old)
    } catch (error) {
      if (age !== this.#age) return
      this.#problem = error instanceof ApiProblem ? error.message : 'the console does not answer'
      this.#total ??= 0
    }
    this.#options.update()
  }

  #attach(element: Element | undefined): void {
    if (!(element instanceof HTMLElement) || element === this.#element) return
    this.#element = element
    // How high it is, it knows only now.
    this.#options.update()
  }

  #activate(index: number): void {
    this.#active = index
    this.#options.update()
  }

  #onKey(event: KeyboardEvent): void {
    const element = this.#element
    const total = this.#total ?? 0
    if (element === undefined || total === 0) return
    const page = Math.max(1, Math.floor(element.clientHeight / ROW_HEIGHT) - 2)
    const moves: Record<string, number> = {
      ArrowDown: this.#active + 1,
      ArrowUp: this.#active - 1,
      j: this.#active + 1,
      k: this.#active - 1,
      PageDown: this.#active + page,
      PageUp: this.#active - page,
      Home: 0,
      End: total - 1,
    }
    const to = moves[event.key]
    if (to !== undefined) {
      event.preventDefault()
      this.#active = Math.max(0, Math.min(total - 1, to))
      this.#show(element)
      this.#options.update()
      return
    }
    const item = this.#item(this.#active)
    if (event.key === 'Enter' && item !== undefined) location.hash = this.#options.href(item)
  }

  /** Scrolls no further than needed. */
  #show(element: HTMLElement): void {
    const top = this.#active * ROW_HEIGHT
    if (top < element.scrollTop) element.scrollTop = top
    // The head stays above them.
    const bottom = top + 2 * ROW_HEIGHT - element.clientHeight
    if (bottom > element.scrollTop) element.scrollTop = bottom
  }
}
