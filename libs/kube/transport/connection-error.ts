import { errorMessage } from '#libs/kernel'
import { KubeConnectionError } from '../errors.ts'

const CERTIFICATE = /CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ALTNAME/

/** `host:port` of a base URL, for messages. */
function hostPort(server: string): string {
  const url = new URL(server)
  return `${url.hostname}:${url.port || (url.protocol === 'https:' ? '443' : '80')}`
}

/** The typed error for whatever the HTTP client threw: names the server and the system's cause. */
export function connectionError(server: string, error: unknown): KubeConnectionError {
  const at = hostPort(server)
  const { reason, message } = deepest(error)
  const hint = CERTIFICATE.test(reason) ? '; check the CA of the kubeconfig' : ''
  return new KubeConnectionError(`${at}: ${reason}${message === '' ? '' : ` (${message})`}${hint}`, {
    server: at,
    reason,
    cause: error,
  })
}

/** The error for a deadline that passed. */
export function timeoutError(server: string, waited: { what: string; ms: number }): KubeConnectionError {
  const at = hostPort(server)
  return new KubeConnectionError(`${at}: no ${waited.what} within ${waited.ms} ms`, { server: at, reason: 'Timeout' })
}

/** Wrappers (`fetch failed`, AggregateError of every address tried) say less than what they wrap. */
function deepest(error: unknown): { reason: string; message: string } {
  if (error instanceof AggregateError && error.errors.length > 0) return deepest(error.errors[0])
  if (!(error instanceof Error)) return { reason: 'Unknown', message: errorMessage(error) }
  const code = (error as NodeJS.ErrnoException).code
  if (error.cause instanceof Error && (code === undefined || code.startsWith('UND_ERR'))) return deepest(error.cause)
  return { reason: code ?? error.name, message: error.message }
}
