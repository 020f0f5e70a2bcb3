import type { LogMessage, LoggedIntent, Outcome } from '#libs/events'
import { HEADERS, parseSubject } from '#libs/events'
import { type Settled, parked } from './result.ts'

/** Longest message that goes into an outcome, in characters. */
const MESSAGE_LIMIT = 2_048

export type OutcomeTimes = { startedAt: number; finishedAt: number }

/** The outcome of an intent. */
export function outcomeOf(intent: LoggedIntent, settled: Settled, times: OutcomeTimes): Outcome {
  const { base, overruled, agreed, traceparent, write, sourceUid } = intent
  const { message, ...result } = settled
  return {
    intentId: intent.id,
    target: intent.target,
    source: intent.source,
    ...(sourceUid === undefined ? {} : { sourceUid }),
    op: write.op,
    ...result,
    ...(message === undefined ? {} : { message: message.slice(0, MESSAGE_LIMIT) }),
    causeSeq: intent.causeSeq,
    fence: intent.fence,
    attempt: intent.attempt,
    stages: {
      observedAt: intent.observedAt,
      loggedAt: intent.loggedAt,
      decidedAt: intent.decidedAt,
      intentAt: intent.storedAt,
      ...times,
    },
    ...(base === undefined ? {} : { base }),
    ...(overruled === undefined ? {} : { overruled }),
    ...(agreed === undefined ? {} : { agreed }),
    ...(traceparent === undefined ? {} : { traceparent }),
  }
}

/**
 * The outcome of a message that is no intent this build can read: parked, not guessed at.
 * @returns undefined when not even its subject can be read
 */
export function poisonOutcome(message: LogMessage, why: string, now: number): Outcome | undefined {
  try {
    const { key } = parseSubject(message.subject)
    const { storedAt } = message
    return {
      intentId: message.headers[HEADERS.msgId] ?? `poison/${message.seq}`,
      target: key,
      source: { resource: key.resource, namespace: key.namespace, name: key.name },
      op: 'patch',
      ...parked('PoisonMessage', why.slice(0, MESSAGE_LIMIT)),
      causeSeq: 0,
      fence: 0,
      attempt: 0,
      stages: {
        observedAt: storedAt,
        loggedAt: storedAt,
        decidedAt: storedAt,
        intentAt: storedAt,
        startedAt: now,
        finishedAt: now,
      },
    }
  } catch {
    return undefined
  }
}

/** An API that refuses an object may quote it; of kinds whose data is sealed, that must not get into the log. */
export function withoutQuotes(settled: Settled): Settled {
  if (settled.reason !== 'Invalid' && settled.reason !== 'AdmissionDenied') return settled
  return { ...settled, message: 'the API refuses the object; its answer is not kept, since it may quote the data' }
}
