import { randomBytes } from 'node:crypto'

/** Of a trace and of its first span. */
const ID_BYTES = 24

/** Asking for random bytes costs the same for one id as for many. */
const IDS_AT_ONCE = 128

let pool = Buffer.alloc(0)
let used = 0

/** A new W3C Trace Context `traceparent`, not sampled: it links log entries and stamps whether or not spans are kept. */
export function newTraceparent(): string {
  if (used === pool.length) {
    pool = randomBytes(ID_BYTES * IDS_AT_ONCE)
    used = 0
  }
  const id = pool.toString('hex', used, (used += ID_BYTES))
  return `00-${id.slice(0, 32)}-${id.slice(32)}-00`
}
