import { rmSync } from 'node:fs'
import { STREAMS, type Write, decodeChange, decodeIntent, decodeOutcome, parseSubject, writeName } from '#libs/events'
import { canonicalJson } from '#libs/kernel'
import type { JsonObject, KubeObject, ObjectKey } from '#libs/kube-model'
import { type DecisionKey, Projection } from '#libs/projection'
import { hideValues } from '#libs/explain'
import { ANNOTATIONS, type TenantContext, decideFor } from '#libs/translation'
import type { Vault } from '#libs/vault'
import { type Part, readMerged, readThere } from './finite.ts'
import type { RecordOptions } from './record-log.ts'
import type { ReplayFile } from './replay-file.ts'

export type TranslateOptions = RecordOptions & {
  vault: Vault
  /** The tenants as they are configured today; others' changes are passed over. */
  contexts: ReadonlyMap<string, TenantContext>
  /** Filters of a type of record. */
  filters: (type: 'change' | 'intent' | 'outcome') => string[]
}

/**
 * Runs today's translator over the recorded changes, and puts what it decides beside what was decided then, into the
 * table `decisions`. Nothing is published. Each distinct write to a target is one row; Events are left out.
 */
export async function translateLog(file: ReplayFile, options: TranslateOptions): Promise<void> {
  const { bus, vault, contexts, filters, signal, asOf = Number.POSITIVE_INFINITY } = options
  const part = (stream: Part['stream'], type: 'change' | 'intent' | 'outcome'): Part => ({
    stream,
    filterSubjects: filters(type),
    signal,
  })
  for await (const batch of readThere(bus, part(STREAMS.intents, 'intent'))) {
    for (const message of batch) {
      if (message.storedAt > asOf) continue
      const intent = readable(() => decodeIntent(message))
      if (intent === undefined || !contexts.has(intent.target.tenant)) continue
      const { causeSeq: seq, target, write, rule } = intent
      note(file, vault, { origin: 'log', seq, target, write, rule })
    }
  }
  const path = `${options.path}.translating`
  const projection = new Projection({
    path,
    vault,
    hostNamespaceOf: (name) => contexts.get(name)?.hostNamespace,
    contextOf: (name) => contexts.get(name),
  })
  try {
    const today = new Today(file, { projection, vault, contexts })
    for await (const message of readMerged(bus, [part(STREAMS.changes, 'change'), part(STREAMS.outcomes, 'outcome')])) {
      if (message.storedAt > asOf) continue
      today.moveOn(message.storedAt)
      if (parseSubject(message.subject).type === 'change') today.change(message)
      else today.outcome(message)
    }
    today.moveOn(Number.MAX_SAFE_INTEGER)
  } finally {
    projection.abandon()
    for (const each of [path, `${path}-wal`, `${path}-shm`]) rmSync(each, { force: true })
  }
}

type Message = Parameters<typeof decodeChange>[0]

type Parts = { projection: Projection; vault: Vault; contexts: ReadonlyMap<string, TenantContext> }

/** Objects that wait for what they depend on, as long as the translator would. */
type Waiting = { key: DecisionKey; since: number; until: number; seq: number }

class Today {
  readonly #file: ReplayFile
  readonly #with: Parts
  readonly #waiting = new Map<string, Waiting>()
  /** What is decided about only when the translator had come to it, with all that was in the log by then. */
  readonly #later = new Map<string, { key: DecisionKey; at: number; seq: number }>()
  /** The log's own time, ms since the epoch. */
  #now = 0

  constructor(file: ReplayFile, parts: Parts) {
    this.#file = file
    this.#with = parts
  }

  /** Lets the time of the log pass: what has waited long enough is decided about again. */
  moveOn(now: number): void {
    this.#now = now
    for (const { key, until, seq } of this.#waiting.values()) if (until <= now) this.#decide(key, seq)
    for (const [id, { key, at, seq }] of this.#later) {
      if (at > now) continue
      this.#later.delete(id)
      this.#decide(key, seq)
    }
  }

  change(message: Message): void {
    const change = readable(() => decodeChange(message))
    if (change === undefined) return
    const { projection } = this.#with
    const folded = readable(() => projection.fold(change))
    const at = this.#file.decidedAt(change.seq) ?? this.#now
    for (const key of folded?.keys ?? []) {
      if (at <= this.#now) this.#decide(key, change.seq)
      else this.#later.set(idOf(key), { key, at, seq: change.seq })
    }
    for (const sweep of folded?.sweeps ?? []) for (const key of projection.sweep(sweep)) this.#decide(key, change.seq)
  }

  /** What a write left both sides agreed on is what later merges start from. */
  outcome(message: Message): void {
    const outcome = readable(() => decodeOutcome(message))
    if (outcome === undefined || outcome.result !== 'done' || outcome.op === 'announce') return
    const { target, source, base, op, seq } = outcome
    const key = { tenant: target.tenant, ref: source }
    if (base !== undefined) this.#with.projection.setAgreement(key, { base, seq })
    else if (op === 'delete' && target.side === 'host') this.#with.projection.setAgreement(key, undefined)
  }

  #decide({ tenant, ref }: DecisionKey, seq: number): void {
    const { projection, vault, contexts } = this.#with
    const context = contexts.get(tenant)
    if (context === undefined) return
    const id = idOf({ tenant, ref })
    const since = this.#waiting.get(id)?.since ?? this.#now
    this.#waiting.delete(id)
    for (const decision of decideFor(projection.view(context, ref, this.#now - since))) {
      if (decision.kind === 'wait') {
        this.#waiting.set(id, { key: { tenant, ref }, since, until: since + decision.limitMs, seq })
      }
      if (decision.kind !== 'write') continue
      const { write, rule } = decision
      note(this.#file, vault, { origin: 'today', seq, target: { tenant, ...decision.target }, write, rule })
    }
  }
}

function idOf({ tenant, ref }: DecisionKey): string {
  return `${tenant}/${ref.resource}/${ref.namespace}/${ref.name}`
}

type Noted = { origin: 'log' | 'today'; seq: number; target: ObjectKey; write: Write; rule: string }

function note(file: ReplayFile, vault: Vault, { origin, seq, target, write, rule }: Noted): void {
  if (write.op === 'announce') return
  const { tenant, side, resource, namespace, name } = target
  const said = essence(target, write, vault)
  const digest = vault.fingerprint(canonicalJson(said))
  const shown = 'body' in said ? { ...said, body: shownBody(target, said.body, vault) } : said
  file.add('decisions', {
    origin,
    tenant,
    side,
    resource,
    namespace,
    name,
    op: writeName(write),
    digest,
    cause_seq: seq,
    rule,
    write: JSON.stringify(shown),
  })
}

/** What a write does, without what only says of which state it was decided. */
function essence(
  target: ObjectKey,
  write: Write,
  vault: Vault,
): { op: string; body?: unknown } & Record<string, unknown> {
  const { op } = write
  if (write.op === 'delete') return { op }
  if (write.op === 'bind') return { op, node: write.node }
  if (Array.isArray(write.body)) return { op, body: write.body }
  return { op, body: withoutTrace(opened(target, write.body, vault)) }
}

function opened(target: ObjectKey, body: JsonObject | KubeObject, vault: Vault): JsonObject | KubeObject {
  if (typeof (body as JsonObject)['sealed'] !== 'string') return body
  return readable(() => vault.unsealFields(target, body as JsonObject)) ?? body
}

/** The trace that made a copy is another each time. */
function withoutTrace(body: JsonObject | KubeObject): JsonObject | KubeObject {
  const { metadata } = body as KubeObject
  if (metadata?.annotations?.[ANNOTATIONS.trace] === undefined) return body
  const { [ANNOTATIONS.trace]: _trace, ...annotations } = metadata.annotations
  return { ...body, metadata: { ...metadata, annotations } }
}

function shownBody(target: ObjectKey, body: unknown, vault: Vault): unknown {
  return Array.isArray(body) ? body : hideValues(target, body as JsonObject, vault)
}

/** What cannot be read is in the table `unreadable` already. */
function readable<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}
