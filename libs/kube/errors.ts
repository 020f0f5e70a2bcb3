import { CausewayError } from '#libs/kernel'
import type { Retry } from '#libs/kernel'

/** The `Status` object an API server answers failures with. */
export type KubeStatus = {
  code?: number
  reason?: string
  message?: string
  details?: {
    name?: string
    kind?: string
    retryAfterSeconds?: number
    causes?: { reason?: string; message?: string; field?: string }[]
  }
}

/** An answer of the API server that is not a success, or an `ERROR` event of a watch. */
export class KubeApiError extends CausewayError {
  readonly statusCode: number
  /** Machine-readable reason of the `Status`, empty when the body was none. */
  readonly reason: string
  readonly details: KubeStatus['details']
  /** What the server asked to wait, by `Retry-After` or `details.retryAfterSeconds`. */
  readonly retryAfterMs: number | undefined

  constructor(
    message: string,
    options: {
      statusCode: number
      reason?: string | undefined
      details?: KubeStatus['details']
      retryAfterMs?: number | undefined
    },
  ) {
    super(message, { code: 'KubeApi', retry: retryFor(options.statusCode) })
    this.statusCode = options.statusCode
    this.reason = options.reason ?? ''
    this.details = options.details
    this.retryAfterMs = options.retryAfterMs
  }
}

/** The server could not be reached, the connection broke, or a deadline passed. `message` names host and cause. */
export class KubeConnectionError extends CausewayError {
  /** `host:port` of the server. */
  readonly server: string
  /** Cause as the system names it: `ECONNREFUSED`, `CERT_HAS_EXPIRED`, `Timeout` … */
  readonly reason: string

  constructor(message: string, options: { server: string; reason: string; cause?: unknown }) {
    super(message, { code: 'KubeConnection', retry: 'backoff', cause: options.cause })
    this.server = options.server
    this.reason = options.reason
  }
}

/** The server said something that is no answer: JSON that does not parse, a line or a body above the limit. */
export class KubeProtocolError extends CausewayError {
  readonly reason: 'TooLarge' | 'Corrupt'

  constructor(message: string, options: { reason: 'TooLarge' | 'Corrupt'; cause?: unknown }) {
    super(message, {
      code: 'KubeProtocol',
      retry: options.reason === 'Corrupt' ? 'backoff' : 'never',
      cause: options.cause,
    })
    this.reason = options.reason
  }
}

/** A kubeconfig, or the credentials it points at, cannot be used. `message` names file, place and remedy. */
export class KubeconfigError extends CausewayError {
  constructor(message: string, options: { cause?: unknown } = {}) {
    super(message, { code: 'KubeconfigInvalid', ...options })
  }
}

/** The error for a failed answer. `where` is for people: method and path. */
export function apiErrorFrom(
  where: string,
  answer: { statusCode: number; body: string; retryAfter?: string | undefined },
): KubeApiError {
  const status = parseStatus(answer.body)
  const said = status?.message ?? answer.body.slice(0, 300).trim()
  const seconds = Number(answer.retryAfter ?? status?.details?.retryAfterSeconds)
  return new KubeApiError(`${where}: ${answer.statusCode} ${said === '' ? 'without a message' : said}`, {
    statusCode: answer.statusCode,
    reason: status?.reason,
    details: status?.details,
    retryAfterMs: Number.isFinite(seconds) && seconds >= 0 ? seconds * 1000 : undefined,
  })
}

/** The error for the `Status` inside an `ERROR` event of a watch. */
export function apiErrorFromStatus(where: string, status: KubeStatus): KubeApiError {
  return apiErrorFrom(where, { statusCode: status.code ?? 500, body: JSON.stringify({ kind: 'Status', ...status }) })
}

export const isNotFound = (error: unknown): boolean => hasStatus(error, 404)
/** The name is taken (409 on create). */
export const isAlreadyExists = (error: unknown): boolean => hasStatus(error, 409) && error.reason === 'AlreadyExists'
/** A precondition (uid, resourceVersion) does not hold: 409, or 422 for a patch with another `metadata.uid`. */
export const isConflict = (error: unknown): boolean =>
  (hasStatus(error, 409) && error.reason !== 'AlreadyExists') || isOtherUid(error)
/** The resource version or continue token is too old: list again. */
export const isExpired = (error: unknown): boolean =>
  error instanceof KubeApiError && (error.statusCode === 410 || error.reason === 'Expired' || error.reason === 'Gone')
export const isForbidden = (error: unknown): boolean => hasStatus(error, 403)
export const isUnauthorized = (error: unknown): boolean => hasStatus(error, 401)
/** The server understood the object and refuses it: 422, or 400 for one it cannot decode. */
export const isInvalid = (error: unknown): boolean =>
  (hasStatus(error, 422) && !isOtherUid(error)) || hasStatus(error, 400)
export const isTooManyRequests = (error: unknown): boolean => hasStatus(error, 429)

/** Whether the same request may well succeed later: network, deadlines, 429 and 5xx. */
export function isTransient(error: unknown): boolean {
  return error instanceof CausewayError && error.retry !== 'never'
}

/** PATCH knows no preconditions: servers find that it changes a field that never changes. */
function isOtherUid(error: unknown): boolean {
  return hasStatus(error, 422) && (error.details?.causes?.some((cause) => cause.field === 'metadata.uid') ?? false)
}

function hasStatus(error: unknown, statusCode: number): error is KubeApiError {
  return error instanceof KubeApiError && error.statusCode === statusCode
}

function retryFor(statusCode: number): Retry {
  return statusCode === 429 || statusCode >= 500 ? 'backoff' : 'never'
}

function parseStatus(body: string): KubeStatus | undefined {
  try {
    const parsed = JSON.parse(body) as { kind?: string } | null
    return parsed?.kind === 'Status' ? (parsed as KubeStatus) : undefined
  } catch {
    return undefined
  }
}
