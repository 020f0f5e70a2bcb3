import { type LogMessage, type LoggedChange, decodeChange, decodeIntent, decodeOutcome, writeName } from '#libs/events'
import { hideValues } from '#libs/explain'
import type { ObjectKey } from '#libs/kube-model'
import type { Vault } from '#libs/vault'

/** A row by its columns. */
export type Row = Record<string, string | number | null>

const decoder = new TextDecoder('utf-8', { fatal: true })

/**
 * The row of a change. Values of Secrets are not in it: lengths and fingerprints stand for them.
 * @throws EnvelopeError
 */
export function changeRow(message: LogMessage, vault: Vault | undefined): Row {
  const change = decodeChange(message)
  const { type } = change
  return {
    ...keyColumns(change),
    type,
    kind: change.kind,
    uid: change.uid,
    resource_version: change.resourceVersion,
    epoch: change.epoch,
    observed_at: change.observedAt,
    owner: change.owner ?? null,
    object: type === 'SYNCED' ? decoder.decode(message.payload) : objectText(message, change, vault),
  }
}

/**
 * The row of an intent; of Secrets as above.
 * @throws EnvelopeError
 */
export function intentRow(message: LogMessage, vault: Vault | undefined): Row {
  const intent = decodeIntent(message)
  const { source, write, target } = intent
  const hidden = 'body' in write && !Array.isArray(write.body) ? { body: hideValues(target, write.body, vault) } : {}
  return {
    ...keyColumns({ ...intent, key: target }),
    id: intent.id,
    op: writeName(write),
    rule: intent.rule,
    source_resource: source.resource,
    source_namespace: source.namespace,
    source_name: source.name,
    cause_seq: intent.causeSeq,
    fence: intent.fence,
    attempt: intent.attempt,
    observed_at: intent.observedAt,
    logged_at: intent.loggedAt,
    decided_at: intent.decidedAt,
    translator: intent.translator ?? null,
    write: JSON.stringify({ ...write, ...hidden }),
  }
}

/** @throws EnvelopeError */
export function outcomeRow(message: LogMessage): Row {
  const outcome = decodeOutcome(message)
  const { stages } = outcome
  return {
    ...keyColumns({ ...outcome, key: outcome.target }),
    intent_id: outcome.intentId,
    op: outcome.op,
    result: outcome.result,
    reason: outcome.reason ?? null,
    message: outcome.message ?? null,
    uid: outcome.uid ?? null,
    resource_version: outcome.resourceVersion ?? null,
    cause_seq: outcome.causeSeq,
    fence: outcome.fence,
    attempt: outcome.attempt,
    observed_at: stages.observedAt,
    logged_at: stages.loggedAt,
    decided_at: stages.decidedAt,
    intent_at: stages.intentAt,
    started_at: stages.startedAt,
    finished_at: stages.finishedAt,
  }
}

type Located = { seq: number; storedAt: number; key: ObjectKey; traceparent?: string | undefined }

function keyColumns({ seq, storedAt, key, traceparent }: Located): Row {
  const { tenant, side, resource, namespace, name } = key
  return { seq, at: storedAt, tenant, side, resource, namespace, name, trace_id: traceId(traceparent) }
}

/** Trace id of a W3C `traceparent`: version, trace, span, flags. */
function traceId(traceparent: string | undefined): string | null {
  return traceparent?.split('-')[1] ?? null
}

/** The object as the watch line has it, cut out rather than parsed where nothing in it is to be hidden. */
function objectText(message: LogMessage, change: LoggedChange, vault: Vault | undefined): string {
  const text = decoder.decode(message.payload)
  const head = `{"type":"${change.type}","object":`
  const isPlain = change.key.resource !== 'secrets' && !text.includes('"sealed":')
  const end = text.trimEnd().length - 1
  if (isPlain && text.startsWith(head) && text[end] === '}') return text.slice(head.length, end)
  return JSON.stringify(hideValues(change.key, change.object(), vault))
}
