import { ApiError } from '../api-error.ts'
import type { StoredObject } from '../storage/stored-object.ts'
import type { Cluster } from './cluster.ts'

export type ListRequest = {
  /** Storage token. */
  resource: string
  /** Absent: all. */
  namespace?: string | undefined
  matches?: ((stored: StoredObject) => boolean) | undefined
  limit?: number | undefined
  continue?: string | undefined
  /** List the state of exactly this revision. */
  exactRevision?: number | undefined
}

export type ListPage = {
  items: readonly StoredObject[]
  revision: number
  /** Token for the next page. */
  continue?: string
  /** Known only without a selector. */
  remaining?: number
}

type Token = { v: string; rv: number; start: string }

const TOO_OLD_LIST = 'The resourceVersion for the provided list is too old.'
const TOO_OLD_TOKEN =
  'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.'

/**
 * One page of objects. All pages of a list show the same revision.
 * @throws ApiError 400 for a broken token, 410 when the revision is compacted
 */
export function listPage(cluster: Cluster, request: ListRequest): ListPage {
  const { resource, namespace } = request
  const token = request.continue ? decodeToken(request.continue) : undefined
  const asked = token === undefined ? request.exactRevision : token.rv
  // A token that was renewed after it expired has revision -1: go on with the newest state.
  const revision = asked === undefined || asked < 0 ? cluster.store.revision : asked
  const all = cluster.store.listAt(resource, namespace, revision)
  if (all === undefined) throw expired(token)
  const rest = token === undefined ? all : all.filter((stored) => isAtOrAfter(stored, token.start, namespace))
  const matching = request.matches === undefined ? rest : rest.filter(request.matches)
  const limit = request.limit ?? 0
  if (limit <= 0 || matching.length <= limit) return { items: matching, revision }
  const items = matching.slice(0, limit)
  const last = items.at(-1)
  const start = last === undefined ? '' : `${keyOf(last, namespace)}\0`
  return {
    items,
    revision,
    continue: encodeToken({ v: 'meta.k8s.io/v1', rv: revision, start }),
    ...(request.matches === undefined ? { remaining: matching.length - limit } : {}),
  }
}

function expired(token: Token | undefined): ApiError {
  if (token === undefined) return ApiError.expired(TOO_OLD_LIST)
  return ApiError.expired(TOO_OLD_TOKEN, { continue: encodeToken({ ...token, rv: -1 }) })
}

const keyOf = (stored: StoredObject, namespace: string | undefined): string =>
  namespace === undefined && stored.namespace !== '' ? `${stored.namespace}/${stored.name}` : stored.name

function isAtOrAfter(stored: StoredObject, start: string, namespace: string | undefined): boolean {
  const slash = namespace === undefined ? start.indexOf('/') : -1
  if (slash < 0) return stored.name >= start
  const startNamespace = start.slice(0, slash)
  if (stored.namespace !== startNamespace) return stored.namespace > startNamespace
  return stored.name >= start.slice(slash + 1)
}

const encodeToken = (token: Token): string => Buffer.from(JSON.stringify(token)).toString('base64url')

function decodeToken(text: string): Token {
  const decoded = Buffer.from(text, 'base64url').toString('latin1')
  try {
    const token = JSON.parse(Buffer.from(text, 'base64url').toString()) as Partial<Token>
    if (token.v !== 'meta.k8s.io/v1') throw new Error(`server key type not recognized: ${token.v ?? ''}`)
    if (typeof token.rv !== 'number' || token.rv === 0) throw new Error('incorrect encoded start resourceVersion')
    return { v: token.v, rv: token.rv, start: String(token.start ?? '') }
  } catch (error) {
    const first = decoded.charCodeAt(0)
    const shown = first >= 32 && first < 127 ? decoded[0] : `\\u${first.toString(16).padStart(4, '0')}`
    const problem =
      error instanceof SyntaxError
        ? `invalid character '${shown}' looking for beginning of value`
        : (error as Error).message
    throw ApiError.badRequest(`invalid continue token: continue key is not valid: ${problem}`)
  }
}
