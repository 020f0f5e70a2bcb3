import type { ResourceInfo } from '#libs/kube-model'
import type { KubeClient, ListPage, Selection } from '../client/kube-client.ts'
import { KubeProtocolError, isExpired } from '../errors.ts'

const PAGE = 500
/** Servers take long to prepare the first page of many objects. */
const TIMEOUT_MS = 60_000

export type ListAllOptions = Selection & {
  client: Pick<KubeClient, 'listPage'>
  resource: ResourceInfo
  signal: AbortSignal
}

/**
 * All objects, page by page, in the newest state (not from a cache, which could lie before our checkpoint). When the
 * continue token expires on the way, everything comes again in one page, marked `restarted`. Pages that are too large
 * are asked for in halves.
 */
export async function* listAll(options: ListAllOptions): AsyncGenerator<ListPage & { restarted: boolean }, void, void> {
  const { client, resource, ...list } = options
  let limit = PAGE
  let continueToken: string | undefined
  let restarted = false
  for (;;) {
    try {
      const page = await client.listPage(resource, { ...list, limit, continueToken, timeoutMs: TIMEOUT_MS })
      yield { ...page, restarted }
      restarted = false
      continueToken = page.continueToken
      if (continueToken === undefined) return
    } catch (error) {
      if (isExpired(error) && continueToken !== undefined) {
        continueToken = undefined
        limit = 0
        restarted = true
      } else if (error instanceof KubeProtocolError && error.reason === 'TooLarge' && limit > 1) {
        limit = Math.ceil(limit / 2)
      } else {
        throw error
      }
    }
  }
}
