/** What a caller may do about an error. */
export type Retry = 'now' | 'backoff' | 'never'

/**
 * Base of our errors: a stable `code` for machines and docs, and whether trying again can help. `message` names what
 * was wrong and what to do.
 */
export class CausewayError extends Error {
  readonly code: string
  readonly retry: Retry

  constructor(message: string, options: { code: string; retry?: Retry; cause?: unknown }) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = new.target.name
    this.code = options.code
    this.retry = options.retry ?? 'never'
  }
}

/** Bad input: `problems` lists everything that is wrong, each with the field's path. */
export class ConfigError extends CausewayError {
  readonly problems: readonly string[]

  constructor(problems: readonly string[], options: { cause?: unknown } = {}) {
    super(problems.join('\n'), { code: 'ConfigInvalid', ...options })
    this.problems = problems
  }
}

/** The message of whatever was thrown. */
export function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
