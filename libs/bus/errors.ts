import { CausewayError, type Retry } from '#libs/kernel'

/** What can go wrong with the log. Stable, listed in docs. */
export type BusErrorCode =
  | 'NatsUnreachable'
  | 'NatsTooOld'
  | 'NatsRefused'
  | 'NatsClosed'
  | 'NatsServerFailed'
  | 'PortTaken'
  | 'StreamMissing'
  | 'StreamMismatch'
  | 'PublishRejected'
  | 'PublisherClosed'
  | 'MessageInvalid'
  | 'KvFailed'
  | 'Fenced'

/** An error of the log; `message` says what to do. */
export class BusError extends CausewayError {
  declare readonly code: BusErrorCode

  constructor(message: string, options: { code: BusErrorCode; retry?: Retry; cause?: unknown }) {
    super(message, options)
  }
}
