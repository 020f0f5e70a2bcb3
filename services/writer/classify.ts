import type { Write } from '#libs/events'
import { CausewayError, errorMessage } from '#libs/kernel'
import { KubeApiError, KubeConnectionError, KubeProtocolError } from '#libs/kube'
import { type Attempt, type TryAgain, conflict, parked } from './result.ts'

const QUOTA = /exceeded quota: |failed quota: /
const ADMISSION = /admission webhook .* denied|ValidatingAdmissionPolicy .* denied|violates PodSecurity/s
/** What an API server says to a path of a group that it does not serve. */
const NOT_SERVED = /^\S+ \S*?\/apis\/([^/\s]+)\/\S*: 404 404 page not found\s*$/
/** Groups that every API server serves. */
const BUILT_IN = new Set([
  'apps',
  'batch',
  'coordination.k8s.io',
  'discovery.k8s.io',
  'networking.k8s.io',
  'node.k8s.io',
  'policy',
  'scheduling.k8s.io',
  'storage.k8s.io',
])
const RBAC = /User ".*" cannot \S+ (resource|path) /

/**
 * What an error of the API means for the write that met it. AlreadyExists on create, and conflicts on bind and delete,
 * need a look at the object first: see execute.ts.
 * @throws the error itself when it is none of the API's: a fault of ours, or the end of the lease
 */
export function classify(error: unknown, write: Pick<Write, 'op'> & { patchType?: string }): Attempt {
  if (error instanceof KubeConnectionError) return retry(error, 'failed')
  if (error instanceof KubeProtocolError) return retry(error, 'failed')
  if (error instanceof KubeApiError) return classifyAnswer(error, write)
  // Credentials that cannot be had: the kubeconfig's plugin failed, a file is gone.
  if (error instanceof CausewayError && error.code === 'KubeconfigInvalid') return parked('Unauthorized', error.message)
  if (error instanceof CausewayError && error.code === 'SealBroken') return parked('PoisonMessage', error.message)
  // Not the API's fault, such as a log that does not answer just now.
  if (error instanceof CausewayError && error.retry !== 'never') return { ...retry(error, 'failed'), isUp: true }
  throw error
}

function classifyAnswer(error: KubeApiError, write: Pick<Write, 'op'> & { patchType?: string }): Attempt {
  const { statusCode } = error
  const message = saidBy(error)
  if (statusCode === 429) return { ...retry(error, 'overloaded'), ...retryAfter(error) }
  if (statusCode >= 500) return { ...retry(error, 'failed'), ...retryAfter(error) }
  // A webhook may deny with any code.
  if (ADMISSION.test(message)) return parked('AdmissionDenied', message)
  switch (statusCode) {
    case 401:
      return parked('Unauthorized', message)
    case 403:
      return parked(forbiddenBy(error, message), message)
    case 404:
      return missing(error, write)
    case 409:
      // On create, a taken name is looked at by the caller; what else conflicts there is the server's own bookkeeping.
      return write.op === 'create' && error.reason !== 'AlreadyExists' ? retry(error, 'failed') : conflict(message)
    case 410:
      return conflict(message)
    case 400:
    case 413:
      return parked('Invalid', message)
    case 405:
    case 406:
    case 415:
      return parked('Unsupported', message)
    case 422:
      return isStale(error, write) ? conflict(message) : parked('Invalid', message)
    default:
      return parked('Invalid', message)
  }
}

function forbiddenBy(error: KubeApiError, message: string) {
  if (error.details?.causes?.some((cause) => cause.reason === 'NamespaceTerminating')) return 'NamespaceTerminating'
  if (QUOTA.test(message)) return 'QuotaExceeded'
  return RBAC.test(message) ? 'Forbidden' : 'AdmissionDenied'
}

function missing(error: KubeApiError, write: Pick<Write, 'op'>): Attempt {
  const message = saidBy(error)
  // A custom resource without its definition: one kind is missing, the server is not.
  const group = NOT_SERVED.exec(error.message)?.[1]
  if (group !== undefined && !BUILT_IN.has(group)) return parked('Unsupported', 'the API does not serve this kind')
  // A proxy's 404, or one of another program at the address.
  if (error.reason !== 'NotFound') return { ...retry(error, 'failed'), isUp: false }
  if (error.details?.kind === 'namespaces' && write.op !== 'patch') return parked('NamespaceMissing', message)
  return isNotServed(error) ? parked('Unsupported', message) : conflict(message)
}

/** 404 for the path and not for the object: the server does not know the kind. */
function isNotServed(error: KubeApiError): boolean {
  return error.details?.name === undefined
}

/** The object is another one, or was changed, since the patch was made. */
function isStale(error: KubeApiError, write: Pick<Write, 'op'> & { patchType?: string }): boolean {
  if (write.op !== 'patch') return false
  // JSON patch answers the same for each operation that does not apply, our uid test among them.
  if (write.patchType === 'json') return error.details?.causes === undefined
  return /metadata\.(uid|resourceVersion): Invalid value/.test(error.message)
}

/** Whether the server says in so many words that this object is not there: never a proxy's 404, nor an unknown path. */
export function isAbsent(error: unknown): boolean {
  return (
    error instanceof KubeApiError &&
    error.statusCode === 404 &&
    error.reason === 'NotFound' &&
    error.details?.name !== undefined
  )
}

/** The server's own words. */
export function saidBy(error: KubeApiError): string {
  return error.message.replace(/^\S+ \S+: \d{3} /, '')
}

function retry(error: unknown, cause: TryAgain['cause']): TryAgain {
  const message = error instanceof KubeApiError ? saidBy(error) : errorMessage(error)
  // 502 to 504 come from what stands before a server as well as from one that cannot work.
  const isUp = error instanceof KubeApiError && error.statusCode < 502
  return { result: 'retry', message, cause, isUp }
}

function retryAfter(error: KubeApiError): Pick<TryAgain, 'retryAfterMs'> {
  return error.retryAfterMs === undefined ? {} : { retryAfterMs: error.retryAfterMs }
}
