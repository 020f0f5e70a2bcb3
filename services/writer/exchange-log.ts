import type { Clock } from '#libs/kernel'
import type { CallOptions } from '#libs/kube'
import type { Exchange } from '#libs/telemetry'

/** An intent's requests to APIs, kept until its outcome says whether they are wanted. */
export type ExchangeLog = {
  readonly exchanges: readonly Exchange[]
  readonly onRequest: NonNullable<CallOptions['onRequest']>
}

/** The last ones tell why an intent failed; one that is tried for long must not grow without bound. */
const LIMIT = 16

export function exchangeLog(clock: Clock): ExchangeLog {
  const exchanges: Exchange[] = []
  return {
    exchanges,
    onRequest: (request) => {
      const from = clock.now()
      return (end) => {
        if (exchanges.length === LIMIT) exchanges.shift()
        exchanges.push({ ...request, ...end, from, until: clock.now() })
      }
    },
  }
}
