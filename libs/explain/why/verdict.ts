import type { Facts } from './facts.ts'
import { SOON_MS, inFlight, stopped, verdict } from './verdict-words.ts'
import type { Verdict } from './verdicts.ts'
import { isWaiting, ofParked, ofWrites } from './write-verdict.ts'

const UNREACHED = new Set(['unreachable', 'unauthorized', 'cluster-changed'])

/**
 * The one reason why an object is as it is. Pure: the first of these that holds, from what everything depends on to what
 * concerns this object alone.
 */
export function verdictOf(facts: Facts): Verdict {
  return (
    ofTenant(facts) ??
    ofKind(facts) ??
    ofApi(facts, 'virtual') ??
    ofAbsence(facts) ??
    ofWatching(facts) ??
    ofObject(facts) ??
    ofApi(facts, 'host') ??
    ofWrites(facts) ??
    ofAgreement(facts)
  )
}

function ofTenant({ tenant, object }: Facts): Verdict | undefined {
  if (!tenant.isRegistered) return verdict('TenantUnknown', false, `no tenant "${object.tenant}" is registered`)
  if (tenant.problems.length === 0) return undefined
  const problems = tenant.problems.join('; ')
  return verdict('CannotTell', 'unknown', `what is registered of tenant ${object.tenant} is not accepted: ${problems}`)
}

function ofKind({ sync, object, live }: Facts): Verdict | undefined {
  const { toHost, fromHost } = sync
  if (toHost === undefined && fromHost === undefined) {
    const text = `objects of the kind ${object.kind} stay in the tenant: only what they make can cross`
    return verdict('NeverCrosses', true, text)
  }
  if (toHost?.enabled === true || fromHost?.enabled === true) return undefined
  const { settings } = toHost ?? fromHost ?? { settings: [] }
  const off = settings.filter(({ enabled }) => !enabled)
  const why = off.map(({ key, from }) => `${key} is off, by ${from === 'default' ? 'default' : 'its configuration'}`)
  // A copy from before goes; until then there is more to say than this.
  if (live.host.state === 'there' && toHost !== undefined && live.virtual.state === 'there') return undefined
  return verdict(
    'KindOff',
    false,
    `objects of the kind ${object.kind} do not cross for tenant ${object.tenant}: ${why.join('; ')}`,
  )
}

function ofApi({ apis, live, object }: Facts, side: 'virtual' | 'host'): Verdict | undefined {
  const api = apis[side]
  const name = side === 'virtual' ? `tenant ${object.tenant}` : 'the host'
  if (api.state === 'cluster-changed') {
    return verdict('ClusterChanged', 'unknown', `another cluster answers for ${name} than before: ${api.message}`)
  }
  const { problem } = api
  if (problem !== undefined && live[side].state === 'unknown') {
    if (problem.reason === 'Unauthorized') {
      return verdict('Unauthorized', false, `the credentials for ${name} are not accepted: ${problem.message}`)
    }
    if (problem.reason === 'Forbidden') {
      return verdict('CannotTell', 'unknown', `the credentials for ${name} do not allow this read: ${problem.message}`)
    }
    return verdict('ApiUnavailable', false, `the API of ${name} does not answer: ${problem.message}`)
  }
  if (!UNREACHED.has(api.state)) return undefined
  const reason = api.state === 'unauthorized' ? 'Unauthorized' : 'ApiUnavailable'
  return verdict(reason, false, `the watcher cannot follow ${name} (${api.state}): ${api.message}`)
}

function ofAbsence(facts: Facts): Verdict | undefined {
  const { live, seen, ended, object } = facts
  if (live.virtual.state !== 'absent' || (live.host.state === 'there' && live.host.isOurs !== false)) return undefined
  if (ended?.by === 'host') return verdict('DeletedOnHost', false, ended.because)
  if (ended !== undefined) return verdict('Deleted', false, ended.because)
  if (seen.virtual.last !== undefined && seen.virtual.last.type !== 'DELETED') {
    return (
      stopped(facts, 'watcher', 'the tenant’s deletion of it is not in the log yet') ??
      inFlight('the tenant has deleted it just now')
    )
  }
  if (seen.virtual.last !== undefined)
    return verdict('Deleted', false, 'it was deleted in the tenant; both sides have none')
  const text = `tenant ${object.tenant} has no ${shown(facts)}, and the log has never had one`
  return verdict('NotFound', false, text)
}

/** Whether the log has what is there. */
function ofWatching(facts: Facts): Verdict | undefined {
  const { live, seen, askedAt } = facts
  const { unreadable } = seen.virtual.unreadable === undefined ? seen.host : seen.virtual
  if (unreadable !== undefined) {
    return verdict('PoisonMessage', false, `the log’s last message about it cannot be read: ${unreadable}`)
  }
  if (live.virtual.state !== 'there' || live.virtual.isAsSeen) {
    if (live.host.state === 'unknown' || live.host.isAsSeen) return undefined
    return stopped(facts, 'watcher-host', 'what is on the host now is not in the log')
  }
  const what = seen.virtual.last === undefined ? 'the tenant’s object' : 'its last version'
  const late = stopped(facts, 'watcher', `${what} is not in the log`)
  if (late !== undefined) return late
  if (seen.virtual.last !== undefined && askedAt - seen.virtual.last.at < SOON_MS) return undefined
  if (seen.virtual.last !== undefined) return undefined
  const listed = seen.virtual.isListed ? '' : '; no complete list of the kind has been in the log yet'
  return verdict('NotSeen', false, `the tenant has it, and the watcher has not brought it to the log${listed}`)
}

function ofObject(facts: Facts): Verdict | undefined {
  const { excluded, rejected, live, object } = facts
  if (rejected !== undefined) return verdict(rejected.reason, false, rejected.message)
  if (excluded !== undefined && live.host.state !== 'there') {
    return verdict(
      'Excluded',
      false,
      `${shown(facts)} of tenant ${object.tenant} is kept from the host: ${excluded.because}`,
      excluded.remedy,
    )
  }
  return undefined
}

function ofAgreement(facts: Facts): Verdict {
  const { missing, live, object, isPaused, writes } = facts
  if (live.virtual.state === 'unknown' || live.host.state === 'unknown') {
    const unknown = [live.virtual, live.host].find((each) => each.state === 'unknown')
    return verdict(
      'CannotTell',
      'unknown',
      `a side could not be read: ${unknown?.state === 'unknown' ? unknown.message : ''}`,
    )
  }
  if (missing.length > 0) {
    const names = missing.map(({ resource, name }) => `${resource}/${name}`).join(', ')
    return verdict('MissingReference', false, `it refers to ${names}, which tenant ${object.tenant} does not have`)
  }
  if (live.virtual.state === 'there' && live.host.state === 'absent') {
    // What is parked although nothing is wanted of it now: the last word is still the API's.
    const parked = writes.find(isWaiting)
    if (parked !== undefined) return ofParked(parked, facts)
    return verdict('CannotTell', 'unknown', 'the tenant has it, the host has none, and nothing is to be done about it')
  }
  if (live.virtual.state === 'absent' && live.host.state === 'there') {
    const text =
      'it is there on the host; the tenant sees it only while it is selected, or while something of the tenant uses it'
    return verdict('Excluded', false, text, 'let the configuration select it, or an object of the tenant refer to it')
  }
  if (live.virtual.state === 'there' && live.virtual.isTerminating) {
    return inFlight('it is being deleted: the tenant’s goes when the host’s has ended, or when its finalizers are gone')
  }
  const pause = isPaused ? '; the tenant has paused the copy' : ''
  return verdict('InSync', true, `both sides agree${pause}`)
}

function shown({ object }: Facts): string {
  const place = object.namespace === '' ? '' : ` in namespace ${object.namespace}`
  return `${object.kind} "${object.name}"${place}`
}
