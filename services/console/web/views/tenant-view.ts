import { type TemplateResult, html, nothing } from 'lit-html'
import type { TenantView } from '../../views.ts'
import { ask } from '../api.ts'
import { ago, count, duration } from '../format.ts'
import { Loaded } from '../loaded.ts'
import { ANY_OBJECT, type ObjectChoice, choiceFields, objectList } from '../parts/object-list.ts'
import { badge, moodOf, problemLine, tile } from '../parts/words.ts'
import { sparkLine } from '../pictures/spark-line.ts'
import { hrefOf } from '../place.ts'
import type { View, ViewContext } from '../view.ts'

/** One tenant: how it stands, and its objects. */
export function tenantView(context: ViewContext): View {
  const name = context.place.path[0] ?? ''
  const path = `/tenants/${encodeURIComponent(name)}`
  const tenant = new Loaded<TenantView>(() => context.update())
  const load = (): void => void tenant.load(() => ask<TenantView>(path, {}, context.signal))
  let choice: ObjectChoice = { ...ANY_OBJECT, side: 'virtual' }
  const list = objectList(context, { label: `Objects of ${name}`, path: () => `${path}/objects`, query: () => choice })
  load()
  return {
    title: name,
    onFleet: () => {
      load()
      list.refresh()
    },
    render: () => html`
      <header class="title">
        <h1>${name}</h1>
        ${tenant.value === undefined ? nothing : badge(tenant.value.state, moodOf(tenant.value.state))}
        <a href=${hrefOf('replay', [], { tenant: name })}>as of a time …</a>
      </header>
      ${problemLine(tenant.problem)} ${tenant.value === undefined ? nothing : overview(tenant.value, context)}
      <section>
        <header class="bar-of-fields">
          <h2>Objects ${list.total === undefined ? nothing : html`<small>${count(list.total)}</small>`}</h2>
          ${choiceFields(
            choice,
            (next) => {
              choice = next
              list.reset()
            },
            'Find objects by a part of their name',
          )}
        </header>
        ${list.render()}
      </section>
    `,
  }
}

function overview(tenant: TenantView, context: ViewContext): TemplateResult {
  const { name, counts, hold, message, since, hostNamespace, partition, syncs, meansMs, meanMs, config, waiting } =
    tenant
  const now = context.now()
  const sum = syncs.reduce((total, each) => total + each, 0)
  const slowest = Math.max(0, ...meansMs.map((each) => each ?? 0))
  return html`
    ${
      hold === undefined
        ? nothing
        : html`<p class="problem">
            Deletions are stopped since ${ago(hold.since, now)}: very many ${hold.resource} vanished on the ${hold.side}
            side, ${count(hold.waiting)} deletions
            wait${hold.contradiction === undefined ? '' : ` (${hold.contradiction})`}.
            <code>causeway tenant confirm ${name}</code> lets them go on.
          </p>`
    }
    <section class="tiles">
      ${tile('API', badge(tenant.state, moodOf(tenant.state)), [message, since === undefined ? '' : `since ${ago(Date.parse(since), now)}`].filter((text) => text !== '').join(', '))}
      ${tile('Syncs, last hour', count(sum), sparkLine(syncs, { width: 180, height: 24, label: `${count(sum)} syncs in the last hour` }))}
      ${tile(
        'Mean sync',
        duration(meanMs),
        sparkLine(
          meansMs.map((each) => each ?? 0),
          { width: 180, height: 24, label: `up to ${duration(slowest)} in a minute` },
        ),
      )}
      ${tile(
        'Waiting',
        html`<a href=${hrefOf('waiting', [], { tenant: name })} class=${waiting > 0 ? 'warn' : ''}
          >${count(waiting)}</a
        >`,
        Object.entries(counts).map(
          ([reason, many]) =>
            html`<a href=${hrefOf('waiting', [], { tenant: name, reason })}>${badge(`${reason} ${many}`, 'bad')}</a>`,
        ),
      )}
      ${tile('Host namespace', html`<code>${hostNamespace}</code>`, `partition ${partition}`)}
    </section>
    <details>
      <summary>
        Configuration ${Object.keys(config).length === 0 ? html`<span class="dim">defaults alone</span>` : nothing}
      </summary>
      <pre class="code">${JSON.stringify(config, null, 2)}</pre>
    </details>
  `
}
