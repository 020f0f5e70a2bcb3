import { randomBytes } from 'node:crypto'

/** A new W3C Trace Context `traceparent`, not sampled: it links log entries and stamps whether or not spans are kept. */
export function newTraceparent(): string {
  const id = randomBytes(24).toString('hex')
  return `00-${id.slice(0, 32)}-${id.slice(32)}-00`
}
