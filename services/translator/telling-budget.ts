import { TokenBucket } from './token-bucket.ts'

/**
 * What one tenant is told per second, and at once, so that a host with much to say, or very many objects that wait, keep
 * no write of it waiting. Warnings may take what the rest must leave.
 */
const TOLD_PER_SECOND = 25
const TOLD_AT_ONCE = 250
const KEPT_FOR_WARNINGS = 50

/** Bounds the Events that each tenant gets. */
export class TellingBudget {
  readonly #buckets = new Map<string, TokenBucket>()

  /** Whether one more Event may be made now (ms since the epoch); it counts then. */
  take(tenant: string, now: number, type: unknown): boolean {
    const bucket = this.#buckets.get(tenant) ?? new TokenBucket({ perSecond: TOLD_PER_SECOND, size: TOLD_AT_ONCE, now })
    this.#buckets.set(tenant, bucket)
    return bucket.take(now, type === 'Warning' ? 0 : KEPT_FOR_WARNINGS)
  }
}
