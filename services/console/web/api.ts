/** What the server said instead of an answer. */
export class ApiProblem extends Error {
  readonly code: string

  constructor(code: string, message: string) {
    super(message)
    this.code = code
  }
}

type Query = Record<string, string | number | undefined>

/** Asks for an answer. @throws ApiProblem, or what fetch throws where nobody answers */
export function ask<T>(path: string, query: Query = {}, signal?: AbortSignal): Promise<T> {
  return call<T>(addressOf(path, query), signal === undefined ? {} : { signal })
}

/** Has something done, as an operator. @throws ApiProblem */
export function order<T>(path: string, query: Query, token: string): Promise<T> {
  return call<T>(addressOf(path, query), { method: 'POST', headers: { authorization: `Bearer ${token}` } })
}

/** The path of an object's part of the API. */
export function objectPath(
  { tenant, resource, namespace, name }: { tenant: string; resource: string; namespace: string; name: string },
  part: string,
): string {
  const segments = [resource, namespace === '' ? '_' : namespace, name].map(encodeURIComponent)
  return `/tenants/${encodeURIComponent(tenant)}/objects/${segments.join('/')}/${part}`
}

/**
 * Listens to events until the signal; a connection that is lost is made again. A page that nobody sees does not listen: a
 * browser has six connections to one server, for all its tabs together.
 * @param options.onBack called when it listens again after that: what came meanwhile was not told
 */
export function listen(
  path: string,
  options: {
    signal: AbortSignal
    on: Record<string, (data: unknown) => void>
    onConnection?: (isConnected: boolean) => void
    onBack?: () => void
  },
): void {
  const { signal, on, onConnection, onBack } = options
  let source: EventSource | undefined
  const follow = (): void => {
    source?.close()
    source = undefined
    if (signal.aborted || document.hidden) return
    source = new EventSource(`/api/v1${path}`)
    for (const [event, take] of Object.entries(on)) {
      source.addEventListener(event, (message) => take(JSON.parse((message as MessageEvent<string>).data)))
    }
    source.addEventListener('open', () => onConnection?.(true))
    source.addEventListener('error', () => onConnection?.(false))
  }
  const onSeen = (): void => {
    follow()
    if (source !== undefined) onBack?.()
  }
  document.addEventListener('visibilitychange', onSeen, { signal })
  signal.addEventListener('abort', () => source?.close(), { once: true })
  follow()
}

function addressOf(path: string, query: Query): string {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== '') search.set(name, String(value))
  }
  const text = search.toString()
  return `/api/v1${path}${text === '' ? '' : `?${text}`}`
}

async function call<T>(address: string, init: RequestInit): Promise<T> {
  const response = await fetch(address, init)
  if (response.ok) return (await response.json()) as T
  const problem = (await response.json().catch(() => ({}))) as { code?: string; message?: string }
  throw new ApiProblem(problem.code ?? String(response.status), problem.message ?? response.statusText)
}
