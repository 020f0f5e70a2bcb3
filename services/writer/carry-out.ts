import type { Lease } from '#libs/bus'
import type { LoggedIntent } from '#libs/events'
import { type Clock, errorMessage } from '#libs/kernel'
import type { Logger, Tracing } from '#libs/telemetry'
import type { CallSample } from './adaptive-limit.ts'
import type { Availability } from './availability.ts'
import { execute } from './execute.ts'
import { refusal } from './guard.ts'
import type { WriterLimits } from './limits.ts'
import type { WriterMetrics } from './metrics.ts'
import { type NextStep, nextStep } from './next-step.ts'
import { type ExchangeLog, exchangeLog } from './exchange-log.ts'
import { withoutQuotes } from './outcome-of.ts'
import type { Opener, TenantDirectory, TenantRoute } from './ports.ts'
import { type Attempt, type Settled, parked } from './result.ts'

export type CarryOutDeps = {
  lease: Pick<Lease, 'isHeld'>
  directory: TenantDirectory
  vault: Opener
  limits: Pick<WriterLimits, 'deadlineMs' | 'callTimeoutMs'>
  clock: Clock
  random: () => number
  logger: Logger
  metrics: WriterMetrics
  /** @default none */
  tracing?: Tracing
  /** Aborts when no attempt may begin any more. */
  stop: AbortSignal
  /** Breaks off attempts that are under way. */
  hardStop: AbortSignal
  /** Called right before a call is made. */
  onCall(): void
}

/** What an intent has been through. */
export type Progress = {
  readonly intent: LoggedIntent
  /** Attempts that may be repeated. */
  failures: number
  /** When the first attempt began. */
  startedAt?: number
  /** Its requests, where there is tracing. */
  exchanges?: ExchangeLog
}

/** `left`: nothing is known of it, and the next owner of the partition carries it out. */
export type Carried = { step: NextStep | 'left'; sample?: CallSample }

/** Makes one attempt at an intent whose turn has come, and says what follows. Never rejects. */
export async function carryOut(item: Progress, availability: Availability, deps: CarryOutDeps): Promise<Carried> {
  const { clock, limits, directory } = deps
  const { intent } = item
  if (deps.stop.aborted || !deps.lease.isHeld()) return { step: 'left' }
  const begun = clock.now()
  item.startedAt ??= begun
  const down = availability.objection(begun)
  if (down !== undefined) return { step: { settle: parked('ApiUnavailable', down) } }
  // Asked once more, right before the write: the tenant may have been moved or removed while the intent waited.
  const route = directory.tenant(intent.target.tenant)
  const refused = route === undefined ? notRegistered(intent.target.tenant) : refusal(intent, route)
  if (route === undefined || refused !== undefined) {
    return { step: { settle: refused ?? notRegistered(intent.target.tenant) } }
  }
  deps.onCall()
  if (deps.tracing?.isOn === true) item.exchanges ??= exchangeLog(clock)
  const left = item.startedAt + limits.deadlineMs - begun
  const timeoutMs = Math.min(limits.callTimeoutMs, Math.max(MIN_TIMEOUT_MS, left))
  const attempt = await call(item, { route, timeoutMs }, deps)
  if (attempt === undefined) return { step: 'left' }
  const now = clock.now()
  deps.metrics.call(intent, now - begun)
  return { step: follow(item, attempt, { availability, now, deps }), sample: sampleOf(attempt, now - begun) }
}

const MIN_TIMEOUT_MS = 1_000

/** @returns undefined when the call was broken off because the work ends */
async function call(
  { intent, exchanges }: Progress,
  at: { route: TenantRoute; timeoutMs: number },
  deps: CarryOutDeps,
): Promise<Attempt | undefined> {
  const { directory, vault, logger, hardStop } = deps
  try {
    const attempt = await execute(intent, {
      ...at,
      host: directory.host(),
      vault,
      identity: (side) => directory.identity(side, intent.target.tenant),
      signal: hardStop,
      ...(exchanges === undefined ? {} : { onRequest: exchanges.onRequest }),
    })
    return attempt.result === 'parked' && vault.covers(intent.target.resource) ? withoutQuotes(attempt) : attempt
  } catch (error) {
    if (hardStop.aborted) return undefined
    // A fault of ours must not keep what comes after from going on.
    logger.error({ target: intent.target, rule: intent.rule, err: error }, 'write failed unexpectedly; it is parked')
    return parked('PoisonMessage', errorMessage(error))
  }
}

function follow(
  item: Progress,
  attempt: Attempt,
  context: { availability: Availability; now: number; deps: CarryOutDeps },
): NextStep {
  const { availability, now, deps } = context
  const startedAt = item.startedAt ?? now
  if (attempt.result !== 'retry') {
    availability.answered(now)
    return { settle: attempt }
  }
  item.failures += 1
  if (attempt.isUp) availability.answered(now)
  const step = nextStep(
    attempt,
    { startedAt, failures: item.failures },
    { now, deadlineMs: deps.limits.deadlineMs, isDown: availability.isDown, random: deps.random },
  )
  if ('retryInMs' in step) deps.metrics.retry(item.intent, attempt.cause)
  else if (!attempt.isUp) availability.gaveUp(startedAt, { now, message: attempt.message })
  return step
}

function sampleOf(attempt: Attempt, ms: number): CallSample {
  if (attempt.result !== 'retry') return { result: 'answered', ms }
  const { cause: result, retryAfterMs } = attempt
  return { result, ms, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) }
}

export function notRegistered(tenant: string): Settled {
  return parked('ApiUnavailable', `tenant ${tenant} is not registered`)
}
