import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { Registry } from 'prom-client'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { METRICS, type MetricDeclaration, createRegistry, openTracing } from '#libs/telemetry'
import { createConsoleMetrics } from '../services/console/metrics.ts'
import { createTranslatorMetrics } from '../services/translator/metrics.ts'
import { createWatcherMetrics } from '../services/watcher/metrics.ts'
import { createWriterMetrics } from '../services/writer/metrics.ts'
import { type Query, parseQuery } from './promql.ts'

/* Metrics are held to Prometheus’s conventions, and dashboards and alerts to the metrics that there are. */

const root = join(import.meta.dirname, '..')

/** Labels that may be: each has a set of values that does not grow with objects. */
const BOUNDED = [
  'side',
  'resource',
  'type',
  'reason',
  'what',
  'rule',
  'stage',
  'role',
  'partition',
  'op',
  'result',
].concat(['cause', 'urgency', 'state', 'direction'])
/** The one whose values are tenants, and where it may be: there, only those with the highest numbers are. */
const TOP = /^causeway_tenant_/

type Metric = { name: string; type: string; help: string; labels: readonly string[]; values: Map<string, Set<string>> }

const known = new Map<string, Metric>()
const registry = createRegistry()
createWatcherMetrics(registry)
createTranslatorMetrics(registry)
createWriterMetrics(registry)
createConsoleMetrics(registry)
await openTracing({ env: {}, registry, instance: 'i', slowMs: 1 })
const own = new Map<string, MetricDeclaration>(Object.values(METRICS).map((one) => [one.name, one]))
for (const { name, type, help, values: series } of await registry.getMetricsAsJSON()) {
  const values = new Map<string, Set<string>>()
  for (const { labels } of series) {
    for (const [label, value] of Object.entries(labels)) {
      values.set(label, (values.get(label) ?? new Set()).add(String(value)))
    }
  }
  const labels = own.get(name)?.labels ?? [...values.keys()]
  known.set(name, { name, type: String(type), help, labels, values })
}

describe('every metric', () => {
  test('is registered by a service, as it is declared', () => {
    for (const metric of Object.values(METRICS)) {
      const { name, type, help } = metric
      expect(known.get(name)).toMatchObject({ name, type, help })
    }
  })

  test('is named by Prometheus’s conventions', () => {
    for (const { name, type } of Object.values(METRICS)) {
      expect(name).toMatch(/^causeway_[a-z][a-z_]*[a-z]$/)
      expect([name, name.endsWith('_total')]).toEqual([name, type === 'counter'])
      expect(name).not.toMatch(/_(count|sum|bucket|info|ms|millis|milliseconds|minutes|kb|mb|percent)$/)
      expect([name, type !== 'histogram' || name.endsWith('_seconds')]).toEqual([name, true])
    }
  })

  test('says what it is in a sentence', () => {
    for (const { help } of Object.values(METRICS)) expect(help).toMatch(/^[A-Z].{15,}\.$/)
    const helps = Object.values(METRICS).map(({ help }) => help)
    expect(new Set(helps).size).toBe(helps.length)
  })

  test('has labels whose values are bounded; a tenant is none but of the few with the highest numbers', () => {
    for (const { name, labels = [] } of own.values()) {
      const allowed = TOP.test(name) ? ['tenant'] : BOUNDED
      expect({ name, labels: labels.filter((label) => !allowed.includes(label)) }).toEqual({ name, labels: [] })
    }
  })

  test('has its series from the start, where it is known which there are, and not too many to be read often', async () => {
    const text = await registry.metrics()
    for (const series of [
      'causeway_writer_security_refusals_total{side="host"} 0',
      'causeway_translator_parked{reason="QuotaExceeded"} 0',
      'causeway_translator_poison_total{stage="fold"} 0',
      'causeway_watcher_watches{side="host",state="unreachable"} 0',
      'causeway_sync_seconds_count{direction="toHost",resource="pods"} 0',
      'causeway_trace_spans_total{result="dropped"} 0',
    ]) {
      expect(text).toContain(`${series}\n`)
    }
    expect(text.split('\n').length).toBeLessThan(4_000)
  })

  test('that names tenants names the twenty with the highest numbers, and no other', async () => {
    const few = new Registry()
    const metrics = createTranslatorMetrics(few)
    metrics.waiting(new Map(Array.from({ length: 50 }, (_, index) => [`t${index}`, index])))
    metrics.waiting(new Map(Array.from({ length: 50 }, (_, index) => [`u${index}`, index])))
    const lines = (await few.metrics()).split('\n').filter((line) => line.startsWith('causeway_tenant_waiting'))
    expect(lines).toHaveLength(20)
    expect(lines).toContain('causeway_tenant_waiting_objects{tenant="u49"} 49')
  })
})

/** What is wrong with a query, in words. */
function problemsOf(query: Query): string[] {
  const problems: string[] = []
  const labels = new Set(['job', 'instance', 'le'])
  for (const { metric, matchers } of query.selections) {
    if (metric === 'up') continue
    const base = known.has(metric) ? metric : metric.replace(/_(bucket|sum|count)$/, '')
    const found = known.get(base)
    if (found === undefined || (base !== metric) !== (found.type === 'histogram')) {
      problems.push(`there is no ${metric}`)
      continue
    }
    for (const label of found.labels) labels.add(label)
    for (const { label, operator, value } of matchers) {
      if (!found.labels.includes(label) && label !== 'job' && label !== 'instance')
        problems.push(`${metric} has no ${label}`)
      const values = found.values.get(label)
      if (values === undefined || TOP.test(metric) || operator === '!~' || /variable|\.[*+]/.test(value)) continue
      for (const one of operator === '=~' ? value.split('|') : [value]) {
        if (!values.has(one)) problems.push(`${label} of ${metric} is never ${one}`)
      }
    }
  }
  return [...problems, ...query.grouping.filter((label) => !labels.has(label)).map((label) => `nothing has ${label}`)]
}

test('what is wrong with a query is seen', () => {
  const problems = (text: string): string[] => problemsOf(parseQuery(text))
  expect(problems('sum by (stage) (rate(causeway_sync_stage_seconds_bucket[$__rate_interval]))')).toEqual([])
  expect(problems('causeway_no_such_total')).toEqual(['there is no causeway_no_such_total'])
  expect(problems('causeway_sync_seconds')).toEqual(['there is no causeway_sync_seconds'])
  expect(problems('sum by (tenant) (causeway_translator_parked)')).toEqual(['nothing has tenant'])
  expect(problems('causeway_translator_parked{side="host"}')).toEqual(['causeway_translator_parked has no side'])
  expect(problems('causeway_translator_parked{reason="Unknown"}')).toEqual([
    'reason of causeway_translator_parked is never Unknown',
  ])
  expect(() => parseQuery('sum by (stage) (rate(')).toThrow(/not a query/)
  expect(() => parseQuery('1 + 1')).toThrow(/names no metric/)
})

type Panel = {
  title?: string
  description?: string
  type: string
  fieldConfig?: { defaults?: { unit?: string } }
  targets?: { expr: string; legendFormat?: string }[]
}
type Dashboard = {
  uid: string
  title: string
  panels: Panel[]
  templating: { list: { name: string; definition?: string }[] }
}

const dashboards = readdirSync(join(root, 'deploy/grafana')).map(
  (file) => [file, JSON.parse(readFileSync(join(root, 'deploy/grafana', file), 'utf8')) as Dashboard] as const,
)

describe.for(dashboards)('the dashboard %s', ([, dashboard]) => {
  test('asks for what there is', () => {
    const queries = dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr))
    expect(queries.length).toBeGreaterThan(5)
    expect(queries.flatMap((query) => problemsOf(parseQuery(query)).map((problem) => `${query}: ${problem}`))).toEqual(
      [],
    )
  })

  test('has a title, an explanation, a unit and a name of each line for every panel', () => {
    const incomplete = dashboard.panels.filter(
      ({ title = '', description = '', fieldConfig, targets = [] }) =>
        title === '' ||
        description === '' ||
        (fieldConfig?.defaults?.unit ?? '') === '' ||
        targets.length === 0 ||
        targets.some(({ legendFormat = '' }) => legendFormat === ''),
    )
    expect(incomplete).toEqual([])
  })

  test('knows each variable that it uses, and finds its values', () => {
    const variables = dashboard.templating.list.map(({ name }) => name)
    const used = [...JSON.stringify(dashboard).matchAll(/\$\{?(\w+)\}?/g)].map((match) => match[1] ?? '')
    expect(used.filter((name) => !name.startsWith('__') && !variables.includes(name))).toEqual([])
    for (const { definition } of dashboard.templating.list) {
      if (definition === undefined) continue
      const [, selector = '', label = ''] = /^label_values\((.+), (\w+)\)$/.exec(definition) ?? []
      const matching = /^\{__name__=~"(.+)"\}$/.exec(selector)?.[1]
      const names = [...known.keys()].filter((name) => new RegExp(`^(${matching ?? selector})$`).test(name))
      const base = selector.replace(/_(bucket|sum|count)$/, '')
      const metrics = matching === undefined ? [base] : names
      expect(metrics.length).toBeGreaterThan(0)
      for (const metric of metrics) expect(known.get(metric)?.labels).toContain(label)
    }
  })
})

test('dashboards are told apart', () => {
  expect(new Set(dashboards.map(([, { uid }]) => uid)).size).toBe(dashboards.length)
  expect(dashboards.map(([file]) => file)).toEqual(['fleet.json', 'pipeline.json', 'tenant.json'])
})

type Rule = {
  alert: string
  expr: string
  for: string
  labels: { severity: string }
  annotations: { summary: string; runbook_url: string }
}
const alerts = parse(readFileSync(join(root, 'deploy/prometheus/alerts.yaml'), 'utf8')) as {
  groups: { rules: Rule[] }[]
}
const rules = alerts.groups.flatMap((group) => group.rules)
const operations = readFileSync(join(root, 'docs/operations.md'), 'utf8')

describe('alerts', () => {
  test.for(rules.map((rule) => [rule.alert, rule] as const))('%s asks for what there is', ([, rule]) => {
    const query = parseQuery(rule.expr)
    expect(problemsOf(query)).toEqual([])
    // What the summary names must be left by the query.
    const named = [...rule.annotations.summary.matchAll(/\$labels\.(\w+)/g)].map((match) => match[1] ?? '')
    const isGrouped = /\b(by|on) \(/.test(rule.expr)
    expect(isGrouped ? named.filter((label) => !query.grouping.includes(label)) : []).toEqual([])
    expect(rule.for).toMatch(/^\d+m$/)
    expect(['critical', 'warning', 'info']).toContain(rule.labels.severity)
  })

  test('have each a section that says what it means, what to look at and what to do', () => {
    const sections = operations.split(/^### /m).slice(1)
    const names = rules.map(({ alert }) => alert)
    expect(new Set(names).size).toBe(names.length)
    for (const { alert, annotations } of rules) {
      expect(annotations.runbook_url).toBe(`docs/operations.md#${alert.toLowerCase()}`)
      const section = sections.find((one) => one.startsWith(`${alert}\n`)) ?? `nothing of ${alert}`
      expect(section).toMatch(/^\w+\n\n[^-][\s\S]+\n\n- Look at: [\s\S]+\n- Do: /)
    }
    const described = sections.flatMap((one) => /^(Causeway[A-Z]\w+)\n/.exec(one)?.[1] ?? [])
    expect(described.toSorted()).toEqual(names.toSorted())
  })
})
