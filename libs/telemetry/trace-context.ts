import { randomBytes } from 'node:crypto'
import { sha256Hex } from '#libs/kernel'

/** A span as others name it: W3C Trace Context. */
export type TraceContext = { traceId: string; spanId: string; sampled: boolean }

/** Of a trace and of its first span. */
const ID_BYTES = 24
/** Asking for random bytes costs the same for one id as for many. */
const IDS_AT_ONCE = 128

let pool = Buffer.alloc(0)
let used = 0

/** A trace that begins, not sampled: it links log entries and stamps whether or not spans are kept. */
export function newTrace(): TraceContext {
  if (used === pool.length) {
    pool = randomBytes(ID_BYTES * IDS_AT_ONCE)
    used = 0
  }
  const id = pool.toString('hex', used, (used += ID_BYTES))
  return { traceId: id.slice(0, 32), spanId: id.slice(32), sampled: false }
}

/** The header's value. */
export function formatTraceparent({ traceId, spanId, sampled }: TraceContext): string {
  return `00-${traceId}-${spanId}-${sampled ? '01' : '00'}`
}

const TRACEPARENT = /^[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})/

/** @returns undefined for what is no `traceparent` */
export function parseTraceparent(text: string | undefined): TraceContext | undefined {
  const [, traceId, spanId, flags] = TRACEPARENT.exec(text ?? '') ?? []
  if (traceId === undefined || spanId === undefined) return undefined
  return { traceId, spanId, sampled: (Number.parseInt(flags ?? '0', 16) & 1) === 1 }
}

/** The id of the span of something that has a name: whoever knows the name knows the id, in whatever process. */
export function spanIdOf(name: string): string {
  return sha256Hex(name).slice(0, 16)
}

/** The trace of something that has a name and is part of no other. */
export function traceIdOf(name: string): string {
  return sha256Hex(name).slice(0, 32)
}
