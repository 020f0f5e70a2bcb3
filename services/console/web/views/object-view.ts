import { type TemplateResult, html, nothing } from 'lit-html'
import type { Facts, StoryEntry, Verdict } from '#libs/explain'
import type { SidesView, TraceView } from '../../views.ts'
import { ask, listen, objectPath } from '../api.ts'
import { ago, clockTime, duration, fullName } from '../format.ts'
import { Loaded } from '../loaded.ts'
import { sidesTable } from '../parts/sides-table.ts'
import { timeline } from '../parts/timeline.ts'
import { type Mood, badge, problemLine } from '../parts/words.ts'
import { waterfall } from '../pictures/waterfall.ts'
import { type Place, hrefOf } from '../place.ts'
import type { View, ViewContext } from '../view.ts'
import { whyCard } from '../parts/why-card.ts'
import { retry } from './waiting-view.ts'

const TRACES_SHOWN = 5
/** How long news are gathered before what follows from them is asked for again. */
const SETTLE_MS = 300

type Answer = { verdict: Verdict; facts: Facts }

/** The story of one object: why it is as it is, what happened when, and both sides as of any entry. */
export function objectView(context: ViewContext): View {
  const [tenant = '', resource = '', token = '_', name = ''] = context.place.path
  const namespace = token === '_' ? '' : token
  const object = { tenant, resource, namespace, name }
  const update = (): void => context.update()
  const story = new Loaded<{ isCut: boolean; entries: StoryEntry[] }>(update)
  const sides = new Loaded<SidesView>(update)
  const why = new Loaded<Answer>(update)
  const trace = new Loaded<TraceView>(update)
  let at = Number(context.place.query['at']) || undefined
  let isWhole = false
  let settling: ReturnType<typeof setTimeout> | undefined

  const asked = <T>(part: string, query: Record<string, string | number | undefined> = {}) =>
    ask<T>(objectPath(object, part), query, context.signal)
  const loadSides = (): void => void sides.load(() => asked<SidesView>('sides', { at }))
  const loadAll = (): void => {
    void story.load(() => asked('story'))
    void why.load(() => asked<Answer>('why'))
    void trace.load(() => asked<TraceView>('trace'))
    loadSides()
  }
  const select = (moment: number | undefined): void => {
    at = moment
    history.replaceState(null, '', hrefOf('object', context.place.path, at === undefined ? {} : { at: String(at) }))
    loadSides()
  }
  loadAll()
  listen(objectPath(object, 'live'), {
    signal: context.signal,
    onBack: loadAll,
    on: {
      entry: () => {
        clearTimeout(settling)
        settling = setTimeout(loadAll, SETTLE_MS)
      },
    },
  })
  context.signal.addEventListener('abort', () => clearTimeout(settling), { once: true })

  return {
    title: name,
    onPlace: ({ query }: Place) => {
      at = Number(query['at']) || undefined
      loadSides()
      return true
    },
    render: () => html`
      <header class="title">
        <h1><span class="dim">${resource}</span> ${fullName(object)}</h1>
        <span>of <a href=${hrefOf('tenant', [tenant])}>${tenant}</a></span>
        ${why.value === undefined ? nothing : verdictBadge(why.value.verdict)}
        ${
          context.fleet()?.isOperator === true
            ? html`<button @click=${() => retry(object, context)}>retry</button>`
            : nothing
        }
      </header>
      <section class="why">
        ${problemLine(why.problem)}
        ${
          why.value === undefined
            ? html`<p class="empty">${why.problem === undefined ? 'Looking at both sides …' : nothing}</p>`
            : whyCard(why.value.verdict, why.value.facts, context.now())
        }
      </section>
      <section class="split">
        <div>
          <h2>Timeline</h2>
          ${problemLine(story.problem)}
          ${story.value?.isCut ? html`<p class="dim">The history no longer reaches back to the beginning.</p>` : nothing}
          ${
            story.value === undefined
              ? html`<p class="empty">Reading …</p>`
              : timeline(story.value.entries, { at, now: context.now(), select })
          }
        </div>
        <div>
          <header class="bar-of-fields">
            <h2>${at === undefined ? 'Both sides now' : `Both sides at ${clockTime(at, context.now())}`}</h2>
            ${at === undefined ? nothing : html`<button @click=${() => select(undefined)}>now</button>`}
            <label>
              <input
                type="checkbox"
                .checked=${isWhole}
                @change=${(event: Event) => {
                  isWhole = (event.target as HTMLInputElement).checked
                  update()
                }}
              />
              whole objects
            </label>
          </header>
          ${problemLine(sides.problem)} ${sides.value === undefined ? nothing : sidesTable(sides.value, isWhole)}
        </div>
      </section>
      <section>
        <h2>Traces</h2>
        ${problemLine(trace.problem)} ${traces(trace.value, context.now())}
      </section>
    `,
  }
}

/** An object on the host: leads to the tenant's that it is the copy of, or says that there is none. */
export function hostObjectView(context: ViewContext): View {
  const [, resource = '', namespace = '_', name = ''] = context.place.path
  type Whose = {
    verdict: Verdict
    owner?: { tenant: string; ref: { resource: string; namespace: string; name: string } }
  }
  const whose = new Loaded<Whose>(() => context.update())
  const path = `/host-objects/${[resource, namespace, name].map(encodeURIComponent).join('/')}`
  void whose.load(async () => {
    const answer = await ask<Whose>(path, {}, context.signal)
    if (answer.owner !== undefined) {
      const { tenant, ref } = answer.owner
      const token = ref.namespace === '' ? '_' : ref.namespace
      location.replace(hrefOf('object', [tenant, ref.resource, token, ref.name], context.place.query))
    }
    return answer
  })
  return {
    title: name,
    render: () => html`
      <header class="title">
        <h1><span class="dim">${resource}</span> ${name} <span class="dim">on the host</span></h1>
      </header>
      ${problemLine(whose.problem)}
      ${whose.value === undefined ? html`<p class="empty">Asking whose it is …</p>` : html`<p>${whose.value.verdict.summary}</p>`}
    `,
  }
}

function verdictBadge({ reason, isInSync }: Verdict): TemplateResult {
  const mood: Mood = isInSync === true ? 'good' : isInSync === false ? 'bad' : 'busy'
  return badge(isInSync === true ? 'in sync' : reason, mood)
}

function traces(trace: TraceView | undefined, now: number): TemplateResult {
  if (trace === undefined) return html`<p class="empty">Reading …</p>`
  if (trace.traces.length === 0) return html`<p class="empty">The log holds no change of it.</p>`
  const written = trace.traces.filter(({ bars }) => bars.length > 1)
  const shown = written.slice(0, TRACES_SHOWN)
  const rest = trace.traces.filter((each) => !shown.includes(each))
  const longest = Math.max(...rest.map(({ start, end }) => end - start))
  return html`
    ${shown.map((each) => waterfall(each, now))}
    ${
      rest.length === 0
        ? nothing
        : html`<details>
            <summary>
              ${rest.length} more, most of them of changes that led to no write, since
              ${ago(rest.at(-1)?.start ?? now, now)}; the longest took ${duration(longest)}
            </summary>
            ${rest.map((each) => waterfall(each, now))}
          </details>`
    }
  `
}
