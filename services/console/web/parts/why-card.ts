import { type TemplateResult, html, nothing } from 'lit-html'
import type { Facts, LiveFact, Verdict, WriteFact } from '#libs/explain'
import type { Side } from '#libs/kube-model'
import { ago, duration, fullName } from '../format.ts'

const WRITES_SHOWN = 4

/** The answer of `why`, and what it follows from. */
export function whyCard(verdict: Verdict, facts: Facts, now: number): TemplateResult {
  const { reason, summary, remedy, isInSync } = verdict
  const mood = isInSync === true ? 'good' : isInSync === false ? 'bad' : 'busy'
  return html`<div class="card ${mood}">
    <p class="summary"><strong>${reason}</strong> ${summary}</p>
    ${remedy === undefined ? nothing : html`<p class="remedy"><span class="dim">what to do</span> ${remedy}</p>`}
    <dl class="facts">
      ${fact('crosses', crosses(facts))} ${fact('in the tenant', side(facts, 'virtual', now))}
      ${fact('on the host', side(facts, 'host', now))}
      ${facts.excluded === undefined ? nothing : fact('kept back', facts.excluded.because)}
      ${
        facts.missing.length === 0
          ? nothing
          : fact('missing', facts.missing.map((each) => `${each.resource}/${fullName(each)}`).join(', '))
      }
      ${facts.wanted.map(({ op, because, side: where }) => fact('wanted', `${op} ${where === 'host' ? 'on the host' : 'in the tenant'}: ${because}`))}
      ${facts.writes.slice(0, WRITES_SHOWN).map((write) => fact('write', written(write, now)))}
    </dl>
  </div>`
}

function fact(name: string, words: unknown): TemplateResult {
  return html`<dt>${name}</dt>
    <dd>${words}</dd>`
}

function crosses({ sync }: Facts): string {
  const said = [
    ['to the host', sync.toHost],
    ['from the host', sync.fromHost],
  ] as const
  const words = said.flatMap(([where, each]) =>
    each === undefined ? [] : [`${each.enabled ? 'yes' : 'no'}, ${where}`],
  )
  return words.length === 0 ? 'never' : words.join('; ')
}

function side(facts: Facts, which: Side, now: number): string {
  const { last, key } = facts.seen[which]
  const where = which === 'host' ? `${fullName(key)}: ` : ''
  const logged =
    last === undefined
      ? 'never in the log'
      : last.type === 'DELETED'
        ? `deleted, ${ago(last.at, now)}`
        : `version ${last.resourceVersion} in the log, ${ago(last.at, now)}`
  return `${where}${liveWords(facts.live[which])}; ${logged}`
}

function liveWords(live: LiveFact): string {
  if (live.state === 'unknown') return `cannot be read now (${live.message})`
  if (live.state === 'absent') return live.isAsSeen ? 'not there' : 'not there, other than in the log'
  const words = [
    'there',
    live.phase,
    live.isTerminating ? 'being deleted' : undefined,
    live.isAsSeen ? undefined : 'other than in the log',
    live.isOurs === false ? 'not ours' : undefined,
  ]
  return words.filter((word) => word !== undefined).join(', ')
}

function written({ op, side: where, because, outcome, at }: WriteFact, now: number): string {
  const place = where === 'host' ? 'on the host' : 'in the tenant'
  if (outcome === undefined) return `${op} ${place}, under way since ${ago(at, now)}: ${because}`
  const { result, reason, message, stages, nextTry } = outcome
  const said = [reason, message].filter((word) => word !== undefined).join(': ')
  const next = nextTry === undefined ? '' : `; tried again within ${duration(Math.max(0, nextTry.until - now))}`
  const how = result === 'done' ? `done in ${duration(stages.total)}` : `${result}${said === '' ? '' : ` – ${said}`}`
  return `${op} ${place}, ${ago(outcome.at, now)}: ${how}${next} (${because})`
}
