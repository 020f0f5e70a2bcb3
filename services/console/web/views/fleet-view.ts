import { type TemplateResult, html, nothing } from 'lit-html'
import type { FleetView, TenantPage, TenantRow } from '../../views.ts'
import { ask } from '../api.ts'
import { ago, count, duration, fullName } from '../format.ts'
import { PagedList } from '../parts/paged-list.ts'
import { badge, moodOf, tile } from '../parts/words.ts'
import { heatMap } from '../pictures/heat-map.ts'
import { sparkLine } from '../pictures/spark-line.ts'
import { type Place, hrefOf } from '../place.ts'
import type { View, ViewContext } from '../view.ts'

const ORDERS: readonly (readonly [string, string])[] = [
  ['name', 'by name'],
  ['waiting', 'most waiting first'],
  ['latency', 'slowest first'],
  ['syncs', 'busiest first'],
  ['state', 'not in sync first'],
]
/** A position that is told now and then is behind for a moment: that is no lag. */
const LATE_MS = 60_000
const PARTITIONS_SHOWN = 12

/** How it stands with the whole fleet. */
export function fleetView(context: ViewContext): View {
  let { query } = context.place
  const list = new PagedList<TenantRow>({
    label: 'Tenants',
    name: 'tenants',
    header: html`<span>tenant</span><span>state</span><span>syncs, last hour</span><span>mean</span><span>waiting</span
      ><span>host namespace</span>`,
    empty: 'No tenant is called so.',
    update: () => context.update(),
    href: ({ name }) => hrefOf('tenant', [name]),
    load: (offset, limit) =>
      ask<TenantPage>(
        '/tenants',
        { search: query['search'], state: query['state'], order: query['order'], offset, limit },
        context.signal,
      ),
    row: tenantRow,
  })
  const choose = (change: Record<string, string>): void => {
    query = { ...query, ...change }
    history.replaceState(null, '', hrefOf('fleet', [], query))
    list.reset()
  }
  return {
    title: 'Fleet',
    onFleet: () => list.refresh(),
    onPlace: ({ query: next }: Place) => {
      query = next
      list.reset()
      return true
    },
    render: () => {
      const fleet = context.fleet()
      return html`
        ${fleet === undefined ? html`<p class="empty">Reading …</p>` : overview(fleet)}
        <section>
          <header class="bar-of-fields">
            <h2>Tenants ${list.total === undefined ? nothing : html`<small>${count(list.total)}</small>`}</h2>
            <input
              type="search"
              class="search"
              aria-label="Find tenants"
              placeholder="Find tenants"
              spellcheck="false"
              autocomplete="off"
              .value=${query['search'] ?? ''}
              @input=${(event: Event) => choose({ search: (event.target as HTMLInputElement).value.trim() })}
            />
            <select
              aria-label="order"
              @change=${(event: Event) => choose({ order: (event.target as HTMLSelectElement).value })}
            >
              ${ORDERS.map(([value, words]) => html`<option value=${value} ?selected=${value === (query['order'] ?? 'name')}>${words}</option>`)}
            </select>
            ${
              query['state']
                ? html`<button @click=${() => choose({ state: '' })} title="show all states">
                    ${query['state']} ×
                  </button>`
                : nothing
            }
          </header>
          ${list.render()}
        </section>
      `
    },
  }
}

function tenantRow(tenant: TenantRow): TemplateResult {
  const { name, state, message, syncs, meanMs, waiting, isHeld, hostNamespace } = tenant
  const sum = syncs.reduce((total, each) => total + each, 0)
  return html`
    <span class="strong">${name}</span>
    <span>${badge(state, moodOf(state), message)}${isHeld ? badge('deletions held', 'bad') : nothing}</span>
    <span>${sparkLine(syncs, { width: 120, height: 18, label: `${count(sum)} syncs in the last hour` })}</span>
    <span class="number">${duration(meanMs)}</span>
    <span class="number ${waiting > 0 ? 'warn' : 'dim'}">${count(waiting)}</span>
    <span class="dim">${hostNamespace}</span>
  `
}

function overview(fleet: FleetView): TemplateResult {
  const { tenants, latency, waiting, host } = fleet
  const total = latency.now.find(({ stage }) => stage === 'total')
  const hour = latency.hour.find(({ stage }) => stage === 'total')
  const waits = Object.values(waiting).reduce((sum, each) => sum + each, 0)
  const late = lateOf(fleet)
  return html`
    <section class="tiles">
      ${tile(
        'Tenants',
        count(tenants.total),
        Object.entries(tenants.byState).map(
          ([state, many]) =>
            html`<a href=${hrefOf('fleet', [], { state })}>${badge(`${count(many)} ${state}`, moodOf(state))}</a>`,
        ),
      )}
      ${tile(
        'Sync now, p95',
        duration(total?.p95),
        total?.count ? `p50 ${duration(total.p50)}, p99 ${duration(total.p99)}` : 'nothing in the last five minutes',
      )}
      ${tile('Syncs, last hour', count(hour?.count ?? 0), latency.isComplete ? `p95 ${duration(hour?.p95)}` : 'still reading the log')}
      ${tile(
        'Waiting',
        html`<a href=${hrefOf('waiting')} class=${waits > 0 ? 'warn' : ''}>${count(waits)}</a>`,
        tenants.held > 0
          ? badge(`deletions of ${count(tenants.held)} held`, 'bad')
          : tenants.waiting === 0
            ? 'all is where it should be'
            : `of ${count(tenants.waiting)} ${tenants.waiting === 1 ? 'tenant' : 'tenants'}`,
      )}
      ${tile(
        'Behind',
        late.length === 0 ? html`<span class="good">no</span>` : html`<span class="bad">${count(late.length)}</span>`,
        late.length === 0 ? `${fleet.partitions.length} partitions keep up` : late.slice(0, 2).join('; '),
      )}
      ${tile('Host API', badge(host.state, moodOf(host.state), host.message), host.message)}
    </section>
    <section>
      <h2>Sync latency by stage</h2>
      ${heatMap(latency)}
    </section>
    <section class="columns">${waitingByReason(waiting)} ${partitions(fleet)} ${slowest(fleet)}</section>
  `
}

/** What is behind, or nobody works on, in words. */
function lateOf({ partitions: all, at }: FleetView): string[] {
  return all.flatMap(({ partition, owners, translator, writer }) => [
    ...['watcher', 'translator', 'writer']
      .filter((role) => owners[role] === undefined)
      .map((role) => `no ${role} for partition ${partition}`),
    ...Object.entries({ translator, writer }).flatMap(([role, { behind, since }]) =>
      behind > 0 && since !== undefined && at - since > LATE_MS
        ? [`${role} of partition ${partition} since ${ago(since, at)}`]
        : [],
    ),
  ])
}

function waitingByReason(waiting: FleetView['waiting']): TemplateResult {
  const reasons = Object.entries(waiting).toSorted(([, a], [, b]) => b - a)
  const most = Math.max(1, ...reasons.map(([, many]) => many))
  return html`<div>
    <h2>Waiting, by reason</h2>
    ${reasons.length === 0 ? html`<p class="empty">Nothing waits.</p>` : nothing}
    <ul class="bars">
      ${reasons.map(
        ([reason, many]) =>
          html`<li>
            <a href=${hrefOf('waiting', [], { reason })}>${reason}</a>
            <meter min="0" max=${most} value=${many} aria-hidden="true"></meter>
            <span class="number">${count(many)}</span>
          </li>`,
      )}
    </ul>
  </div>`
}

function partitions({ partitions: all, at, watcherHost }: FleetView): TemplateResult {
  const busiest = all.toSorted((a, b) => behindOf(b) - behindOf(a) || a.partition - b.partition)
  const shown = busiest.slice(0, PARTITIONS_SHOWN)
  const role = (lag: FleetView['partitions'][number], name: 'translator' | 'writer'): TemplateResult => {
    const { behind, since } = lag[name]
    if (lag.owners[name] === undefined) return badge('nobody', 'bad')
    if (behind === 0 || since === undefined || at - since < LATE_MS) return badge('keeps up', 'good', lag.owners[name])
    return badge(`${count(behind)}, since ${ago(since, at)}`, 'bad', lag.owners[name])
  }
  return html`<div>
    <h2>Partitions</h2>
    <table class="plain">
      <thead>
        <tr>
          <th scope="col">partition</th>
          <th scope="col">watcher</th>
          <th scope="col">translator</th>
          <th scope="col">writer</th>
        </tr>
      </thead>
      <tbody>
        ${shown.map(
          (lag) =>
            html`<tr>
              <th scope="row">${lag.partition}</th>
              <td>
                ${lag.owners['watcher'] === undefined ? badge('nobody', 'bad') : badge('there', 'good', lag.owners['watcher'])}
              </td>
              <td>${role(lag, 'translator')}</td>
              <td>${role(lag, 'writer')}</td>
            </tr>`,
        )}
        <tr>
          <th scope="row">host</th>
          <td>${watcherHost === undefined ? badge('nobody', 'bad') : badge('there', 'good', watcherHost)}</td>
          <td></td>
          <td></td>
        </tr>
      </tbody>
    </table>
    ${all.length > shown.length ? html`<p class="dim">and ${all.length - shown.length} more</p>` : nothing}
  </div>`
}

function behindOf({ owners, translator, writer }: FleetView['partitions'][number]): number {
  return translator.behind + writer.behind + (Object.keys(owners).length < 3 ? 1e9 : 0)
}

function slowest({ latency, at }: FleetView): TemplateResult {
  return html`<div>
    <h2>Slowest syncs of the hour</h2>
    ${latency.slowest.length === 0 ? html`<p class="empty">None yet.</p>` : nothing}
    <ol class="slowest">
      ${latency.slowest.map(
        ({ tenant, resource, namespace, name, op, ms, at: when }) =>
          html`<li>
            <a
              href=${hrefOf('object', [tenant, resource, namespace === '' ? '_' : namespace, name])}
              title="${op}, ${ago(when, at)}"
              ><span class="number">${duration(ms)}</span>
              <span class="dim">${tenant}</span> ${resource}/${fullName({ namespace, name })}</a
            >
          </li>`,
      )}
    </ol>
  </div>`
}
