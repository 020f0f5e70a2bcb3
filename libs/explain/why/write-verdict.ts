import type { Facts, ServiceFact, WriteFact } from './facts.ts'
import { SOON_MS, inFlight, sideName, stopped, verdict } from './verdict-words.ts'
import { REMEDIES, type Verdict } from './verdicts.ts'

/** What the writes say that are wanted, waiting or refused. */
export function ofWrites(facts: Facts): Verdict | undefined {
  const { wanted, writes, isPaused, seen, askedAt } = facts
  const waiting = writes.find(({ outcome }) => outcome === undefined)
  const parked = writes.find((write) => isWaiting(write) && (wanted.length === 0 ? false : isWanted(write, facts)))
  if (parked !== undefined) return ofParked(parked, facts)
  if (waiting !== undefined && wanted.length > 0) {
    const since = new Date(waiting.at).toISOString()
    const nobody = stopped(facts, 'writer', `the intents wait since ${since}`)
    if (nobody !== undefined) return nobody
    const { needs } = waiting
    const names = needs.map(({ resource, name }) => `${resource}/${name}`).join(', ')
    const what = needs.length === 0 ? 'it is in the writer’s queue' : `it waits until ${names} is settled`
    return inFlight(
      `${waiting.because}: ${waiting.op} on the ${sideName(waiting.side)} is decided since ${since}; ${what}`,
    )
  }
  const [first] = wanted
  if (first === undefined) return undefined
  const { held } = facts
  if (held !== undefined && first.op === 'delete') {
    const side = held.side === 'virtual' ? 'the tenant' : 'the host'
    const since = new Date(held.since).toISOString()
    const against = held.contradiction === undefined ? '' : `: ${held.contradiction}`
    return verdict(
      'MassDeletion',
      false,
      `very many objects vanished from ${side} at once, so deletions wait since ${since}${against}`,
    )
  }
  const nobody = stopped(facts, 'translator', 'what is in the log is not decided about')
  if (nobody !== undefined) return nobody
  const last = Math.max(
    seen.virtual.last?.at ?? 0,
    seen.host.last?.at ?? 0,
    ...writes.map(({ at, outcome }) => outcome?.at ?? at),
  )
  const what = `${first.because}: ${first.op} on the ${sideName(first.side)}`
  if (isPaused && first.side === 'host')
    return verdict('Paused', false, `the tenant has paused its copy, which differs (${what})`)
  if (!facts.live.virtual.state.startsWith('t') || askedAt - last < SOON_MS || isLate(facts, 'translator')) {
    return inFlight(`${what} is about to be decided`)
  }
  return verdict('Drift', false, `${what} is wanted by what both sides hold, and nothing of it is under way`)
}

export function ofParked({ outcome, op, side, attempt }: WriteFact, { dropped }: Pick<Facts, 'dropped'>): Verdict {
  const reason = outcome?.reason ?? 'CannotTell'
  const answer = outcome?.message === undefined ? '' : `: ${outcome.message}`
  const tries = attempt === 0 ? '' : `, at attempt ${attempt + 1}`
  const what = `${op} on the ${sideName(side)}`
  if (dropped === undefined)
    return verdict(reason, false, `${what} is ${outcome?.result ?? 'waiting'}${tries}${answer}`)
  const who = dropped.by === undefined ? 'the operator' : `the operator (${dropped.by})`
  const since = new Date(dropped.at).toISOString()
  const remedy = `${REMEDIES[reason] ?? ''}; then "causeway parked retry", as it is tried again only when it changes`
  return verdict(reason, false, `${what} was dropped by ${who} at ${since}${tries}${answer}`, remedy)
}

export function isWaiting({ outcome }: WriteFact): boolean {
  return outcome?.result === 'parked' || outcome?.result === 'refused'
}

function isWanted(write: WriteFact, { wanted }: Facts): boolean {
  return wanted.some(({ side, op }) => side === write.side && op.split('/')[0] === write.op.split('/')[0])
}

function isLate({ services }: Facts, role: ServiceFact['role']): boolean {
  return (services.find((each) => each.role === role)?.behind ?? 0) > 0
}
