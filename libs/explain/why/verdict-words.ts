import type { Facts, ServiceFact } from './facts.ts'
import { REMEDIES, type Verdict, type VerdictReason } from './verdicts.ts'

/** Longer than this, what is under way is late. */
export const SOON_MS = 15_000

/** A verdict with what is to be done about its reason, or in this case. */
export function verdict(
  reason: VerdictReason,
  isInSync: Verdict['isInSync'],
  summary: string,
  remedy?: string,
): Verdict {
  const todo = remedy ?? REMEDIES[reason]
  return { reason, isInSync, summary, ...(todo === undefined ? {} : { remedy: todo }) }
}

/** What is so because nobody does this work. */
export function stopped(facts: Facts, role: ServiceFact['role'], what: string): Verdict | undefined {
  const service = facts.services.find((each) => each.role === role)
  if (service === undefined || service.owner !== undefined) return undefined
  const reason = (
    {
      watcher: 'WatcherStopped',
      'watcher-host': 'WatcherStopped',
      translator: 'TranslatorStopped',
      writer: 'WriterStopped',
    } as const
  )[role]
  const whose =
    role === 'watcher-host' ? 'no watcher follows the host' : `no ${role} owns partition ${facts.tenant.partition}`
  return verdict(reason, false, `${whose}: ${what}`)
}

export function inFlight(summary: string): Verdict {
  return verdict('InFlight', false, summary)
}

export function sideName(side: 'virtual' | 'host'): string {
  return side === 'virtual' ? 'tenant' : 'host'
}
