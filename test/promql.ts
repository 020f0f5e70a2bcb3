import { parser } from '@prometheus-io/lezer-promql'

/** What a query asks of one metric: its name, and the labels with the values that it selects. */
export type Selection = { metric: string; matchers: { label: string; operator: string; value: string }[] }

/** A query by its parts. */
export type Query = {
  selections: Selection[]
  /** Labels that it groups or matches by, besides those of selections. */
  grouping: string[]
}

/** Grafana's own variables, and those of a dashboard, stand for values. */
function withoutVariables(query: string): string {
  return query.replace(/\$__(rate_interval|interval|range)/g, '5m').replace(/\$\{?\w+\}?/g, 'variable')
}

/** Reads a query of Prometheus or of a Grafana panel. @throws Error where it is none */
export function parseQuery(text: string): Query {
  const query = withoutVariables(text)
  const selections: Selection[] = []
  const grouping: string[] = []
  let isGrouping = false
  parser.parse(query).iterate({
    enter: ({ name, from, to, type, node }) => {
      const said = query.slice(from, to)
      if (type.isError) throw new Error(`${text}: not a query at ${from}: ${query.slice(from)}`)
      if (name === 'VectorSelector') {
        const metric = node.getChild('Identifier')
        selections.push({ metric: metric === null ? '' : query.slice(metric.from, metric.to), matchers: [] })
      }
      if (name === 'GroupingLabels') isGrouping = true
      if (name === 'LabelName' && isGrouping) grouping.push(said)
      if (name === 'UnquotedLabelMatcher') {
        const [, label = '', operator = '', value = ''] = /^(\w+)\s*(=~|!~|!=|=)\s*"(.*)"$/s.exec(said) ?? []
        selections.at(-1)?.matchers.push({ label, operator, value })
      }
    },
    leave: ({ name }) => {
      if (name === 'GroupingLabels') isGrouping = false
    },
  })
  if (selections.length === 0) throw new Error(`${text}: names no metric`)
  return { selections, grouping }
}
