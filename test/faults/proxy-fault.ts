/** What a proxy can do to the requests that pass it, while it is told to. */
export type ProxyFault =
  /** Answers this share of the requests itself; 429 and 503 say when to come again. */
  | { kind: 'refuse'; status: 429 | 500 | 502 | 503; share: number }
  /** Every request waits before it is passed on. */
  | { kind: 'slow'; ms: number }
  /** Connections are accepted and requests taken, and nothing is ever answered; watches that are open fall silent. */
  | { kind: 'silent' }
  /** The connection of this share of the requests ends, before the API server has them or after it has answered. */
  | { kind: 'reset'; share: number; after: boolean }
  /** Watches end within a line. */
  | { kind: 'truncate' }
  /** The history is gone: watches are told so, in their stream or as the answer, and have to list. */
  | { kind: 'gone'; inStream: boolean }
  /** Watches have to list, and lists are empty. */
  | { kind: 'empty-list' }
  /** The dates of answers are those of another clock. */
  | { kind: 'clock'; offsetMs: number }

export const RETRY_AFTER_SECONDS = 1

/** A Kubernetes Status, as API servers answer when something is wrong. */
export function statusOf(code: number, reason: string, message: string): string {
  return JSON.stringify({ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, reason, code })
}

export const GONE_EVENT = `${JSON.stringify({
  type: 'ERROR',
  object: JSON.parse(statusOf(410, 'Expired', 'too old resource version')) as unknown,
})}\n`
