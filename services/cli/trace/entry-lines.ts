import type { Difference, OutcomeEntry, StoryEntry } from '#libs/explain'
import { displayName } from '#libs/kube-model'
import { clockTime, milliseconds } from '../why/times.ts'

/** More places that differ, or longer values, are for `-o json`. */
const DIFFERENCES_SHOWN = 12
const VALUE_LENGTH = 80
const INDENT = ' '.repeat(25)

/** One entry of a story for people: a line, and below it what has changed. */
export function entryLines(entry: StoryEntry): string[] {
  const head = (what: string, text: string): string =>
    `${clockTime(entry.at)}  ${(entry.side === 'virtual' ? 'tenant' : 'host').padEnd(6)}  ${what.padEnd(8)}  ${text}`.trimEnd()
  switch (entry.kind) {
    case 'change': {
      const { type, resourceVersion, writtenBy, differences, isFirst } = entry
      const whose = writtenBy === undefined ? '' : ', our own write'
      const since = isFirst && type === 'MODIFIED' ? ', the log holds none before' : ''
      return [head(type, `version ${resourceVersion}${whose}${since}`), ...differenceLines(differences)]
    }
    case 'intent': {
      const { op, because, needs, attempt, causeSeq, sent, object } = entry
      const told =
        op === 'announce' && sent?.message !== undefined ? `tell the tenant: ${sent.message}` : `${op}: ${because}`
      const tries = attempt === 0 ? '' : `, attempt ${attempt + 1}`
      const waits =
        needs.length === 0 ? '' : `, after ${needs.map((each) => `${each.resource}/${each.name}`).join(', ')}`
      const where = entry.side === 'host' ? ` as ${displayName(object)}` : ''
      return [head('intent', `${told}${where}${tries} (follows change ${causeSeq}${waits})`)]
    }
    case 'outcome':
      return [head(entry.result, outcomeText(entry))]
    case 'unreadable':
      return [head('poison', entry.problem)]
  }
}

function outcomeText({ op, reason, message, stages }: OutcomeEntry): string {
  const { watch, decide, log, queue, api, total } = stages
  const said = [reason, message].filter((word) => word !== undefined).join(': ')
  const parts = `watch ${watch.toFixed(1)}, decide ${decide.toFixed(1)}, log ${log.toFixed(1)}, queue ${queue.toFixed(1)}, API ${api.toFixed(1)}`
  return `${op} ${said === '' ? `after ${milliseconds(total)} (${parts})` : `– ${said}`}`
}

function differenceLines(differences: readonly Difference[]): string[] {
  const shown = differences.slice(0, DIFFERENCES_SHOWN)
  const rest = differences.length - shown.length
  return [
    ...shown.map(({ path, from, to }) => `${INDENT}${path}: ${value(from)} → ${value(to)}`),
    ...(rest === 0 ? [] : [`${INDENT}… and ${rest} more`]),
  ]
}

function value(json: Difference['from']): string {
  if (json === undefined) return '–'
  const text = JSON.stringify(json)
  return text.length > VALUE_LENGTH ? `${text.slice(0, VALUE_LENGTH)}…` : text
}
