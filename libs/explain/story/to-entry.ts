import {
  type LogMessage,
  type LoggedIntent,
  type LoggedOutcome,
  STREAMS,
  type StreamName,
  decodeChange,
  decodeIntent,
  decodeOutcome,
  parseSubject,
  writeName,
} from '#libs/events'
import { errorMessage, jsonEqual } from '#libs/kernel'
import { type JsonObject, type KubeObject, type ObjectRef, keyString } from '#libs/kube-model'
import { RULES } from '#libs/translation'
import type { Vault } from '#libs/vault'
import { hideValues } from '../hide-values.ts'
import { differences } from './differences.ts'
import type { ChangeEntry, IntentEntry, OutcomeEntry, StageTimes, StoryEntry } from './story-entry.ts'

/** What intents mean that follow from no rule of deciding. */
const OTHER_RULES: Readonly<Record<string, string>> = {
  announce: 'the tenant is told how it stands with the object',
  report: 'the host said something about the copy',
}

/** Turns the messages of one story into entries. Keeps the last state of each side, to say what has changed. */
export class EntryReader {
  readonly #ref: ObjectRef
  readonly #vault: Vault | undefined
  readonly #withStates: boolean
  readonly #states = new Map<string, KubeObject | 'gone'>()

  /** @param ref the tenant's object: what is about others of its namespace is left out */
  constructor(ref: ObjectRef, options: { vault?: Vault | undefined; states?: boolean | undefined } = {}) {
    this.#ref = ref
    this.#vault = options.vault
    this.#withStates = options.states === true
  }

  /** @returns `undefined` for what is about another object */
  read(stream: StreamName, message: LogMessage): StoryEntry | undefined {
    try {
      if (stream === STREAMS.changes) return this.#change(message)
      if (stream === STREAMS.intents) return this.#intent(decodeIntent(message))
      return this.#outcome(decodeOutcome(message))
    } catch (error) {
      return unreadable(stream, message, errorMessage(error), this.#ref)
    }
  }

  #change(message: LogMessage): ChangeEntry | undefined {
    const change = decodeChange(message)
    const { type, key, seq, storedAt, uid, resourceVersion, observedAt, traceparent } = change
    if (type === 'SYNCED') return undefined
    const id = keyString(key)
    const before = this.#states.get(id)
    const after = type === 'DELETED' ? 'gone' : hideValues(key, change.object(), this.#vault)
    this.#states.set(id, after)
    return {
      kind: 'change',
      stream: 'CHANGES',
      at: storedAt,
      seq,
      side: key.side,
      object: key,
      type,
      uid,
      resourceVersion,
      observedAt,
      isFirst: before === undefined,
      differences: before === undefined || before === 'gone' || after === 'gone' ? [] : differences(before, after),
      ...(this.#withStates && after !== 'gone' ? { state: after } : {}),
      ...(traceparent === undefined ? {} : { traceparent }),
    }
  }

  #intent(intent: LoggedIntent): IntentEntry | undefined {
    if (!jsonEqual(intent.source, this.#ref)) return undefined
    const { id, rule, target, storedAt, seq, write, needs, attempt, causeSeq, decidedAt, translator } = intent
    const because = Object.hasOwn(RULES, rule) ? RULES[rule as keyof typeof RULES] : (OTHER_RULES[rule] ?? rule)
    return {
      kind: 'intent',
      stream: 'INTENTS',
      at: storedAt,
      seq,
      side: target.side,
      object: target,
      id,
      op: writeName(write),
      rule,
      because,
      digest: id.split('/').at(-4) ?? '',
      causeSeq,
      needs,
      attempt,
      decidedAt,
      ...(translator === undefined ? {} : { translator }),
      ...this.#sent(intent),
      ...(intent.traceparent === undefined ? {} : { traceparent: intent.traceparent }),
    }
  }

  #sent({ write, target }: LoggedIntent): Pick<IntentEntry, 'sent'> {
    switch (write.op) {
      case 'create':
      case 'replace':
        return {}
      case 'patch': {
        const { body, patchType } = write
        return { sent: { patchType, body: Array.isArray(body) ? body : hideValues(target, body, this.#vault) } }
      }
      case 'bind':
        return { sent: { node: write.node } }
      case 'delete':
        return { sent: { proof: write.proof as unknown as JsonObject } }
      case 'announce':
        return typeof write.body['message'] === 'string' ? { sent: { message: write.body['message'] } } : {}
    }
  }

  #outcome(outcome: LoggedOutcome): OutcomeEntry | undefined {
    if (!jsonEqual(outcome.source, this.#ref)) return undefined
    const { target, storedAt, seq, intentId, op, result, reason, message, attempt, causeSeq } = outcome
    const { resourceVersion, traceparent, stages } = outcome
    return {
      kind: 'outcome',
      stream: 'OUTCOMES',
      at: storedAt,
      seq,
      side: target.side,
      object: target,
      intentId,
      op,
      result,
      attempt,
      causeSeq,
      stages: stageTimes(stages),
      startedAt: stages.observedAt,
      finishedAt: stages.finishedAt,
      ...(reason === undefined ? {} : { reason }),
      ...(message === undefined ? {} : { message }),
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
      ...(traceparent === undefined ? {} : { traceparent }),
    }
  }
}

/** How long each stage of a write took, in milliseconds. */
function stageTimes(stages: LoggedOutcome['stages']): StageTimes {
  const { observedAt, loggedAt, decidedAt, intentAt, startedAt, finishedAt } = stages
  return {
    watch: loggedAt - observedAt,
    decide: decidedAt - loggedAt,
    log: intentAt - decidedAt,
    queue: startedAt - intentAt,
    api: finishedAt - startedAt,
    total: finishedAt - observedAt,
  }
}

function unreadable(stream: StreamName, message: LogMessage, problem: string, ref: ObjectRef): StoryEntry | undefined {
  const { key } = parseSubject(message.subject)
  // An Event that cannot be read may be about any object of the namespace.
  if (key.resource === 'events' && ref.resource !== 'events') return undefined
  if (stream === STREAMS.state) return undefined
  const { storedAt: at, seq } = message
  return { kind: 'unreadable', stream, at, seq, side: key.side, object: key, problem }
}
