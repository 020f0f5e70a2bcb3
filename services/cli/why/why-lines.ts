import type { Explanation, Facts, HostExplanation, LiveFact, SeenFact, WriteFact } from '#libs/explain'
import { displayName } from '#libs/kube-model'
import { align } from '../output/table.ts'
import { clockTime, milliseconds } from './times.ts'

/** Positions are told now and then: what came before that and is not processed is late. */
const LATE_MS = 60_000

/** The answer in words. */
export function whyLines({ verdict, facts, story }: Explanation): string[] {
  const { object } = facts
  const state = verdict.isInSync === true ? 'in sync' : verdict.isInSync === false ? 'not in sync' : 'cannot be told'
  const rows: string[][] = [
    ['reason', verdict.reason],
    ['because', verdict.summary],
    ...(verdict.remedy === undefined ? [] : [['remedy', verdict.remedy]]),
  ]
  const cut = story.isCut ? ['', 'The history no longer reaches back to the beginning: what is older is not told.'] : []
  return [
    `${object.kind} ${displayName(object)} of tenant ${object.tenant}: ${state}`,
    ...indent(align(rows)),
    ...(facts.tenant.isRegistered ? ['', ...indent(align(factRows(facts)))] : []),
    ...cut,
  ]
}

/** The answer about a host object. */
export function hostLines({ host, verdict, owner, explanation }: HostExplanation): string[] {
  if (owner === undefined || explanation === undefined) {
    return [
      `${host.kind} ${displayName(host)} on the host`,
      ...indent(
        align([
          ['reason', verdict.reason],
          ['because', verdict.summary],
          ...(verdict.remedy === undefined ? [] : [['remedy', verdict.remedy]]),
        ]),
      ),
    ]
  }
  const whose = `${displayName(owner.ref)} of tenant ${owner.tenant}`
  return [
    `${host.kind} ${displayName(host)} on the host is the copy of ${whose}, by ${owner.by}`,
    ...whyLines(explanation),
  ]
}

function factRows(facts: Facts): string[][] {
  const { writes, services, excluded, wanted, missing, apis } = facts
  const lost = services.filter(({ owner }) => owner === undefined)
  return [
    ['crosses', crosses(facts)],
    ...(excluded === undefined ? [] : [['kept back', excluded.because]]),
    ['tenant', side(facts.live.virtual, facts.seen.virtual)],
    ['host', side(facts.live.host, facts.seen.host)],
    ...(['virtual', 'host'] as const).flatMap((each) => {
      const { state, message } = apis[each]
      if (state === 'synced') return []
      return [[each === 'virtual' ? 'tenant’s API' : 'host’s API', `${state}${message === '' ? '' : `: ${message}`}`]]
    }),
    ...writes.toReversed().flatMap((write) => writeRows(write, facts)),
    ...wanted.map(({ op, side: where, because, body }) => [
      'wanted',
      `${op} on the ${sideName(where)}: ${because}${body === undefined ? '' : `: ${shortened(JSON.stringify(body))}`}`,
    ]),
    ...missing.map(({ resource, name }) => ['missing', `${resource}/${name}, in the tenant`]),
    ...(facts.copyTakenAt === undefined
      ? []
      : [['deleted', `the copy was deleted on the host by somebody else at ${clockTime(facts.copyTakenAt)}`]]),
    ...lost.map(({ role }) => ['stopped', `nobody works as ${role} for partition ${facts.tenant.partition}`]),
    ...services
      .filter(
        ({ behind, owner, since = facts.askedAt }) =>
          behind > 0 && (owner === undefined || since < facts.askedAt - LATE_MS),
      )
      .map(({ role, behind, since }) => [
        'behind',
        `${role}: ${behind} messages of partition ${facts.tenant.partition}${since === undefined ? '' : `, the oldest since ${clockTime(since)}`}`,
      ]),
  ]
}

function crosses({ sync }: Facts): string {
  const said = [
    ['to the host', sync.toHost],
    ['from the host', sync.fromHost],
  ] as const
  const words = said.flatMap(([where, each]) => {
    if (each === undefined) return []
    const keys = each.settings.map(
      ({ key, enabled, from }) => `${key}: ${String(enabled)}${from === 'default' ? ' (default)' : ''}`,
    )
    return [`${each.enabled ? 'yes' : 'no'}, ${where}${keys.length === 0 ? '' : ` (${keys.join('; ')})`}`]
  })
  return words.length === 0 ? 'never' : words.join('; ')
}

function side(live: LiveFact, { key, last }: SeenFact): string {
  const name = key.side === 'host' ? `: ${displayName(key)}` : ''
  const logged =
    last === undefined
      ? 'never in the log'
      : last.type === 'DELETED'
        ? `deleted in the log at ${clockTime(last.at)}`
        : `version ${last.resourceVersion} in the log at ${clockTime(last.at)}`
  if (live.state === 'unknown') return `cannot be read now (${live.message}); ${logged}`
  const agrees = live.isAsSeen ? '' : ', which is not what the log says'
  if (live.state === 'absent') return `there is none now${agrees}; ${logged}`
  const how = [`version ${live.resourceVersion}`, live.phase, live.isTerminating ? 'terminating' : undefined]
  return `is there${name} (${how.filter((word) => word !== undefined).join(', ')})${agrees}; ${logged}`
}

function writeRows(write: WriteFact, { dropped }: Pick<Facts, 'dropped'>): string[][] {
  const { side: where, op, rule, at, attempt, outcome, isRetried, needs, because } = write
  const tries = attempt === 0 ? '' : `, attempt ${attempt + 1}`
  const what = `${op} on the ${sideName(where)} at ${clockTime(at)} by rule ${rule} (${because})${tries}`
  if (outcome === undefined) {
    const waits =
      needs.length === 0 ? '' : `, after ${needs.map(({ resource, name }) => `${resource}/${name}`).join(', ')}`
    return [['sent', `${what}: under way${waits}`]]
  }
  const { result, reason, message, stages, nextTry } = outcome
  const answer = [reason, message].filter((word) => word !== undefined).join(': ')
  const { watch, decide, log, queue, api, total } = stages
  const isDropped = dropped !== undefined && nextTry !== undefined
  const again = isDropped
    ? `no more: dropped by the operator at ${clockTime(dropped.at)}; until it changes, or "causeway parked retry"`
    : nextTry === undefined || isRetried
      ? ''
      : `tried again by ${clockTime(nextTry.until)}, at once when its cause goes`
  return [
    ['sent', `${what}: ${result}${isRetried ? ' before, and tried again now' : ''}`],
    ...(answer === '' ? [] : [['answer', answer]]),
    ...(again === '' ? [] : [['waits', again]]),
    ...(result === 'done'
      ? [
          [
            'took',
            `${milliseconds(total)}: watch ${milliseconds(watch)}, decide ${milliseconds(decide)}, log ${milliseconds(log)}, queue ${milliseconds(queue)}, API ${milliseconds(api)}`,
          ],
        ]
      : []),
  ]
}

function shortened(text: string): string {
  return text.length > 160 ? `${text.slice(0, 160)}…` : text
}

function indent(lines: readonly string[]): string[] {
  return lines.map((line) => `  ${line}`)
}

function sideName(where: 'virtual' | 'host'): string {
  return where === 'virtual' ? 'tenant' : 'host'
}
