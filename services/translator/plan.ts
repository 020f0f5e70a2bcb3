import type { Agreement, Intent, SidedRef, Write } from '#libs/events'
import { backoffDelay, canonicalJson } from '#libs/kernel'
import type { DecisionKey, Pending } from '#libs/projection'
import { type Decision, translatorVersion } from '#libs/translation'

/** The change that led to a decision. */
export type Cause = {
  seq: number
  /**
   * Where no change did: the last outcome. Between two decisions that the same change was the last before, the same
   * write may have been asked for, answered and forgotten, and it must not be taken for a double then.
   */
  outcomeSeq?: number
  observedAt: number
  loggedAt: number
  traceparent?: string
  /** `traceparent`s of changes of the same batch that came before this one and that are decided about with it. */
  earlier?: readonly string[]
}

export type PlanContext = {
  /** Milliseconds since the epoch. */
  now: number
  cause: Cause
  /** Lease revision of this translator. */
  fence: number
  /** Tells the projection that the decision comes from, see `Projection.generation`. */
  generation: string
  /** A keyed hash: equal texts give equal fingerprints, and nothing else can be told from one. */
  fingerprint(text: string): string
  /** Whether this version of an object has come back from the watch: the echo of the write that made it. */
  hasSeen(target: SidedRef, resourceVersion: string): boolean
  /** The uid of the object that the key is of, as far as it is known. */
  sourceUid?: string | undefined
  /** What both sides of the key are known to agree on. */
  agreed?: Agreement | undefined
}

/** What to publish, and what to remember about it. */
export type Plan = {
  intents: Intent[]
  puts: Pending[]
  deletes: string[]
  rejected: { reason: string; message: string }[]
}

/** How long the echo of a write may take before the write is asked for again, in milliseconds. */
export const ECHO_LIMIT_MS = 10_000

/**
 * How long an intent may be without an outcome before it is issued again. It may be carried out late, when the writer
 * has much to do, and then a second one does no harm; but one that has left the log is lost otherwise.
 */
const ISSUED_LIMIT = { baseMs: 120_000, capMs: 1_800_000 }

/** How often a name that another object holds is looked at again: nothing says when it becomes free. */
const NAME_RETRY_MS = 60_000

/** A row that is due and that nothing could be done about now is not looked at again before. */
const OVERDUE_PAUSE_MS = 1_000

export const WAIT_SLOT = 'wait'
/** What the rows of that slot have for a reason. No outcome and no Event has it: it passes within a moment. */
export const WAITING_FOR_REFERENCE = 'WaitingForReference'
const REJECT_SLOT = 'reject'

/**
 * Turns decisions into intents, against what is already under way: a write that was asked for is not asked for again
 * until its outcome and its echo are in and it is still wanted.
 */
export function plan(
  key: DecisionKey,
  decisions: readonly Decision[],
  context: PlanContext & { rows: readonly Pending[] },
): Plan {
  const result: Plan = { intents: [], puts: [], deletes: [], rejected: [] }
  const rows = new Map(context.rows.map((row) => [row.slot, row]))
  const wanted = new Set<string>()
  for (const decision of decisions) {
    const slot = slotOf(decision)
    wanted.add(slot)
    const row = rows.get(slot)
    switch (decision.kind) {
      case 'wait':
        result.puts.push(waiting(row, decision, context.now))
        break
      case 'reject':
        planRejection(result, { decision, row, context })
        break
      case 'write':
        planWrite(result, { key, decision, slot, row, context })
        break
    }
  }
  for (const row of context.rows) {
    if (!wanted.has(row.slot) && !isUnderWay(row, context)) result.deletes.push(row.slot)
  }
  postponeOverdue(result, context)
  return result
}

/**
 * Whether a write that is not wanted any more must be remembered all the same: until its outcome is in, so that a late
 * one finds its row, and until its echo is in where it moves the base.
 */
function isUnderWay(row: Pending, context: PlanContext): boolean {
  if (isOverdue(row, context)) return false
  if (row.state === 'issued') return true
  return row.state === 'done' && row.carriesBase && !isEchoed(row, targetOf(row.slot), context)
}

/** What is due and stays as it is would be due again at once. */
function postponeOverdue(result: Plan, context: PlanContext & { rows: readonly Pending[] }): void {
  const handled = new Set([...result.deletes, ...result.puts.map((row) => row.slot)])
  for (const row of context.rows) {
    if (isOverdue(row, context) && !handled.has(row.slot)) {
      result.puts.push({ ...row, due: context.now + OVERDUE_PAUSE_MS })
    }
  }
}

function planRejection(
  result: Plan,
  item: { decision: Extract<Decision, { kind: 'reject' }>; row: Pending | undefined; context: PlanContext },
): void {
  const { decision, row, context } = item
  const { now } = context
  const { reason, message } = decision
  const isNew = row === undefined || row.reason !== reason || row.message !== message
  if (isNew) result.rejected.push({ reason, message })
  const isDue = row?.due !== undefined && row.due <= now
  if (!isNew && !isDue) return
  const digest = context.fingerprint(`${reason}/${message}`)
  result.puts.push(rejection(decision, { now, digest, since: isNew ? now : row.since }))
}

type WriteDecision = Extract<Decision, { kind: 'write' }>

function planWrite(
  result: Plan,
  item: {
    key: DecisionKey
    decision: WriteDecision
    slot: string
    row: Pending | undefined
    context: PlanContext & { rows: readonly Pending[] }
  },
): void {
  const { key, decision, slot, row, context } = item
  const digest = context.fingerprint(canonicalJson(withoutSequences(decision.write)))
  if (decision.base !== undefined && isBaseMoving({ result, slot, digest }, context)) return
  if (decision.base === undefined && displacesBase(result, decision, context)) return
  const attempt = nextAttempt(row, digest, decision.target, context)
  if (attempt === 'under way') return
  if (typeof attempt === 'object') {
    result.puts.push(attempt)
    return
  }
  const { cause } = context
  const after = cause.outcomeSeq === undefined ? cause.seq : `${cause.seq}.${cause.outcomeSeq}`
  const intent: Intent = {
    id: `${key.tenant}/${slot}/${digest.slice(0, 20)}/${after}/${attempt}/${context.generation}`,
    target: { tenant: key.tenant, ...decision.target },
    write: decision.write,
    source: key.ref,
    ...(isToCopy(decision) && context.sourceUid !== undefined ? { sourceUid: context.sourceUid } : {}),
    needs: decision.needs,
    causeSeq: cause.seq,
    observedAt: cause.observedAt,
    loggedAt: cause.loggedAt,
    decidedAt: context.now,
    rule: decision.rule,
    fence: context.fence,
    attempt,
    translator: translatorVersion(key.ref.resource),
    ...(decision.base === undefined ? {} : { base: decision.base }),
    ...(decision.overruled === undefined ? {} : { overruled: decision.overruled }),
    ...(context.agreed === undefined ? {} : { agreed: context.agreed }),
    ...(cause.traceparent === undefined ? {} : { traceparent: cause.traceparent }),
  }
  result.intents.push(intent)
  // What it waited for, and since when, is kept until the write is done.
  const waited = row?.digest === digest && row.reason !== undefined ? row : context.rows.find(isRejection)
  result.puts.push({
    slot,
    intentId: intent.id,
    digest,
    attempt,
    state: 'issued',
    carriesBase: decision.base !== undefined,
    since: waited?.since ?? unansweredSince(row, digest) ?? context.now,
    due: context.now + backoffDelay(ISSUED_LIMIT, attempt, () => 1),
    ...(waited?.reason === undefined ? {} : { reason: waited.reason }),
  })
}

/** Since when a write has been without an answer that is asked for once more, as the first may be lost. */
function unansweredSince(row: Pending | undefined, digest: string): number | undefined {
  return row?.state === 'issued' && row.digest === digest ? row.since : undefined
}

function isToCopy({ target, write }: WriteDecision): boolean {
  return target.side === 'host' && (write.op === 'create' || write.op === 'patch')
}

/** The number of the attempt to make now, or what to remember instead. */
function nextAttempt(
  row: Pending | undefined,
  digest: string,
  target: SidedRef,
  context: PlanContext,
): number | Pending | 'under way' {
  if (row === undefined || row.digest !== digest) return 0
  const due = isOverdue(row, context)
  switch (row.state) {
    case 'issued':
      return due ? row.attempt + 1 : 'under way'
    case 'done': {
      const echoed = isEchoed(row, target, context)
      if (due) return row.attempt + 1
      // Made, seen, and wanted once more: the API changed what we wrote. Asked for again, ever more slowly.
      return echoed
        ? { ...row, state: 'settled', since: context.now, due: context.now + rewriteDelay(row.attempt) }
        : 'under way'
    }
    case 'settled':
    case 'retry':
    case 'parked':
    case 'waiting':
    case 'noted':
      return due ? row.attempt + 1 : 'under way'
  }
}

/**
 * Whether another write of the key that changes the base is under way. Until its echo is in, the side it was made on lags
 * behind the base, and looks as if somebody had changed it back.
 */
function isBaseMoving(
  { result, slot, digest }: { result: Plan; slot: string; digest: string },
  context: PlanContext & { rows: readonly Pending[] },
): boolean {
  return [...context.rows, ...result.puts].some((row) => {
    if (!row.carriesBase || (row.slot === slot && row.digest === digest) || isOverdue(row, context)) return false
    return row.state === 'issued' || (row.state === 'done' && !isEchoed(row, targetOf(row.slot), context))
  })
}

/**
 * Whether a patch would follow one to the same target that changes the base, without knowing the base that follows. Its
 * outcome would be all that STATE keeps of the target.
 */
function displacesBase(
  result: Plan,
  { target, write }: WriteDecision,
  context: PlanContext & { rows: readonly Pending[] },
): boolean {
  if (write.op !== 'patch') return false
  const slots = `${target.side}/${target.resource}/${target.namespace}/${target.name}/`
  return [...context.rows, ...result.puts].some(
    (row) =>
      row.carriesBase &&
      row.slot.startsWith(slots) &&
      !isOverdue(row, context) &&
      (row.state === 'issued' || (row.state === 'done' && !isEchoed(row, target, context))),
  )
}

function isOverdue(row: Pending, { now }: { now: number }): boolean {
  return row.due !== undefined && row.due <= now
}

/** Whether a row is of what is not decided yet: it is judged again within a moment, or when something changes. */
export function isJudged({ slot }: Pick<Pending, 'slot'>): boolean {
  return slot === WAIT_SLOT
}

function isRejection(row: Pending): boolean {
  return row.slot === REJECT_SLOT
}

function isEchoed(row: Pending, target: SidedRef, context: PlanContext): boolean {
  return row.resultVersion !== undefined && context.hasSeen(target, row.resultVersion)
}

/** The inverse of `slotOf` for writes. */
function targetOf(slot: string): SidedRef {
  const [side, resource = '', namespace = '', name = ''] = slot.split('/')
  return { side: side === 'host' ? 'host' : 'virtual', resource, namespace, name }
}

function rewriteDelay(attempt: number): number {
  return Math.min(60_000, 100 * 2 ** attempt)
}

/** Identifies which write of a key a decision is about. */
function slotOf(decision: Decision): string {
  if (decision.kind === 'wait') return WAIT_SLOT
  if (decision.kind === 'reject') return REJECT_SLOT
  const { target, write } = decision
  const subresource = write.op === 'patch' && write.subresource !== undefined ? `-${write.subresource}` : ''
  return `${target.side}/${target.resource}/${target.namespace}/${target.name}/${write.op}${subresource}`
}

/** Sequences differ between repeats of the same decision. */
function withoutSequences(write: Write): unknown {
  if (write.op === 'delete') return { ...write, proof: write.proof.kind }
  // It is the same patch of a later state, and a replacement whose second half is the same.
  return write.op === 'replace' || write.op === 'patch' ? { ...write, resourceVersion: undefined } : write
}

function waiting(
  row: Pending | undefined,
  { refs, limitMs }: Extract<Decision, { kind: 'wait' }>,
  now: number,
): Pending {
  const since = row?.state === 'waiting' ? row.since : now
  return {
    slot: WAIT_SLOT,
    intentId: '',
    digest: '',
    attempt: 0,
    state: 'waiting',
    carriesBase: false,
    reason: WAITING_FOR_REFERENCE,
    message: refs.map(({ resource, name }) => `${resource}/${name}`).join(', '),
    since,
    due: since + limitMs,
  }
}

function rejection(
  decision: Extract<Decision, { kind: 'reject' }>,
  { now, since, digest }: { now: number; since: number; digest: string },
): Pending {
  const { reason, message } = decision
  const isToRetry = reason === 'NameConflict' || reason === 'ForeignObject' || reason === 'MassDeletion'
  return {
    slot: REJECT_SLOT,
    intentId: '',
    digest,
    attempt: 0,
    state: 'parked',
    carriesBase: false,
    reason,
    message,
    since,
    ...(isToRetry ? { due: now + NAME_RETRY_MS } : {}),
  }
}
