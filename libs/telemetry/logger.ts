import { type Logger as PinoLogger, pino } from 'pino'

/** Structured logger: constant messages, data in fields. */
export type Logger = PinoLogger

export type LoggerOptions = {
  service: string
  /** pino level. @default 'info' */
  level?: string
  /** File to append to; standard output when absent. */
  file?: string
  /** Standard error in place of standard output: for a process whose output means something. @default false */
  toStandardError?: boolean
}

/**
 * JSON logs, one object a line. `err` fields carry errors; objects are logged by identity only, never by content, since
 * content may be a tenant's secret.
 */
export function createLogger(options: LoggerOptions): Logger {
  const settings = {
    level: options.level ?? 'info',
    base: { service: options.service },
    redact: { paths: ['*.data', '*.stringData', '*.token', '*.authorization'], censor: '[hidden]' },
  }
  if (options.toStandardError === true) return pino(settings, pino.destination(2))
  return options.file === undefined
    ? pino(settings)
    : pino(settings, pino.destination({ dest: options.file, append: true, mkdir: true, sync: false }))
}
