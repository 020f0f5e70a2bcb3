import { type TemplateResult, html, nothing, render } from 'lit-html'
import type { FleetView } from '../views.ts'
import { ApiProblem, listen } from './api.ts'
import { type Place, type ViewName, hrefOf, parseHash } from './place.ts'
import type { View, ViewContext } from './view.ts'
import { fleetView } from './views/fleet-view.ts'
import { hostObjectView, objectView } from './views/object-view.ts'
import { objectsView } from './views/objects-view.ts'
import { replayView } from './views/replay-view.ts'
import { tenantView } from './views/tenant-view.ts'
import { waitingView } from './views/waiting-view.ts'

const MAKE: Record<ViewName, (context: ViewContext) => View> = {
  fleet: fleetView,
  tenant: tenantView,
  objects: objectsView,
  object: (context) => (context.place.path[0] === '@host' ? hostObjectView(context) : objectView(context)),
  waiting: waitingView,
  replay: replayView,
}

const MENU: readonly (readonly [key: string, view: ViewName, words: string])[] = [
  ['1', 'fleet', 'Fleet'],
  ['2', 'objects', 'Objects'],
  ['3', 'waiting', 'Waiting'],
  ['4', 'replay', 'Replay'],
]

const KEYS: readonly (readonly [string, string])[] = [
  ['1 – 4', 'Fleet, Objects, Waiting, Replay'],
  ['/', 'search'],
  ['↑ ↓, j k', 'move in a list or timeline'],
  ['Page, Home, End', 'move far'],
  ['Enter', 'open'],
  ['Backspace', 'back'],
  ['?', 'these keys'],
  ['Esc', 'close'],
]

const NOTE_MS = 6_000

/** The page: which view is shown, and what all of them share. */
class App {
  #fleet: FleetView | undefined
  #isConnected = true
  /** How much the server's clock is ahead of ours, in milliseconds. */
  #ahead = 0
  #place: Place = parseHash('')
  #view: View | undefined
  #left = new AbortController()
  #isDrawing = false
  #isHelpOpen = false
  #token = ''
  #pending: ((token: string) => Promise<string>) | undefined
  #note: { text: string; isBad: boolean } | undefined
  #noteTimer: ReturnType<typeof setTimeout> | undefined

  start(): void {
    addEventListener('hashchange', () => this.#go())
    addEventListener('keydown', (event) => this.#onKey(event))
    addEventListener('resize', () => this.update())
    listen('/live', {
      signal: new AbortController().signal,
      on: { fleet: (data) => this.#onFleet(data as FleetView) },
      onConnection: (isConnected) => {
        this.#isConnected = isConnected
        this.update()
      },
    })
    this.#go()
  }

  update(): void {
    if (this.#isDrawing) return
    this.#isDrawing = true
    requestAnimationFrame(() => {
      this.#isDrawing = false
      render(this.#page(), document.body)
    })
  }

  #onFleet(fleet: FleetView): void {
    this.#fleet = fleet
    this.#ahead = fleet.at - Date.now()
    this.#view?.onFleet?.()
    this.update()
  }

  #go(): void {
    const place = parseHash(location.hash)
    const isSame =
      this.#view !== undefined && place.view === this.#place.view && place.path.join('/') === this.#place.path.join('/')
    this.#place = place
    if (isSame && this.#view?.onPlace?.(place) === true) {
      this.update()
      return
    }
    this.#left.abort()
    this.#left = new AbortController()
    this.#view = MAKE[place.view]({
      place,
      signal: this.#left.signal,
      fleet: () => this.#fleet,
      now: () => Date.now() + this.#ahead,
      update: () => this.update(),
      operate: (act) => this.#operate(act),
    })
    document.title = `${this.#view.title} – Causeway`
    scrollTo(0, 0)
    this.update()
  }

  #operate(act: (token: string) => Promise<string>): void {
    if (this.#token === '') {
      this.#pending = act
      this.update()
      return
    }
    act(this.#token).then(
      (said) => this.#say(said, false),
      (error: unknown) => {
        // The next try asks for another.
        if (error instanceof ApiProblem && error.code === 'WrongToken') this.#token = ''
        this.#say(error instanceof ApiProblem ? error.message : 'the console does not answer', true)
      },
    )
  }

  #say(text: string, isBad: boolean): void {
    this.#note = { text, isBad }
    clearTimeout(this.#noteTimer)
    this.#noteTimer = setTimeout(() => {
      this.#note = undefined
      this.update()
    }, NOTE_MS)
    this.update()
  }

  #onKey(event: KeyboardEvent): void {
    if (event.key === 'Escape') {
      this.#isHelpOpen = false
      this.#pending = undefined
      if (isField(event.target)) event.target.blur()
      this.update()
      return
    }
    if (isField(event.target) || event.ctrlKey || event.metaKey || event.altKey) return
    const chosen = MENU.find(([key]) => key === event.key)
    if (chosen !== undefined) location.hash = hrefOf(chosen[1])
    else if (event.key === '?') this.#isHelpOpen = !this.#isHelpOpen
    else if (event.key === 'Backspace') history.back()
    else if (event.key === '/') document.querySelector<HTMLElement>('main .search')?.focus()
    else return
    event.preventDefault()
    this.update()
  }

  #page(): TemplateResult {
    return html`
      <header class="top">
        <a class="brand" href="#/fleet">Causeway</a>
        <nav aria-label="Views">
          ${MENU.map(
            ([key, view, words]) =>
              html`<a href=${hrefOf(view)} aria-current=${this.#isIn(view) ? 'page' : nothing} title="key ${key}"
                >${words}</a
              >`,
          )}
        </nav>
        <span class="live ${this.#isConnected ? 'on' : 'off'}" role="status"
          >${this.#isConnected ? 'live' : 'not connected'}</span
        >
        <button class="quiet" @click=${() => this.#toggleHelp()} title="keys" aria-label="keys">?</button>
      </header>
      <main>${this.#view?.render() ?? nothing}</main>
      ${
        this.#note === undefined
          ? nothing
          : html`<p class="note ${this.#note.isBad ? 'bad' : 'good'}" role="status">${this.#note.text}</p>`
      }
      ${this.#isHelpOpen ? this.#help() : nothing} ${this.#pending === undefined ? nothing : this.#askToken()}
    `
  }

  #isIn(view: ViewName): boolean {
    const shown = this.#place.view
    return shown === view || (view === 'fleet' && shown === 'tenant') || (view === 'objects' && shown === 'object')
  }

  #toggleHelp(): void {
    this.#isHelpOpen = !this.#isHelpOpen
    this.update()
  }

  #help(): TemplateResult {
    return html`<div class="dialog" role="dialog" aria-label="Keys">
      <h2>Keys</h2>
      <dl class="facts">
        ${KEYS.map(
          ([keys, words]) =>
            html`<dt><kbd>${keys}</kbd></dt>
              <dd>${words}</dd>`,
        )}
      </dl>
    </div>`
  }

  #askToken(): TemplateResult {
    const submit = (event: Event): void => {
      event.preventDefault()
      const field = document.querySelector<HTMLInputElement>('.dialog input')
      const act = this.#pending
      this.#pending = undefined
      this.#token = field?.value.trim() ?? ''
      if (act !== undefined && this.#token !== '') this.#operate(act)
      this.update()
    }
    return html`<form class="dialog" role="dialog" aria-label="Operator token" @submit=${submit}>
      <h2>Operator token</h2>
      <p class="dim">Kept until this page is closed or loaded again.</p>
      <input type="password" aria-label="operator token" autocomplete="off" autofocus />
      <button>go on</button>
    </form>`
  }
}

function isField(target: EventTarget | null): target is HTMLElement {
  return target instanceof HTMLElement && /^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName)
}

new App().start()
