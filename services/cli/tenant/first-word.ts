import type { Kv } from '#libs/bus'
import type { Health } from './health.ts'

/**
 * What the watcher says of a tenant first, after it has tried its API: once the tenant is served or cannot be.
 * @param options.after revision of the last word on an earlier tenant of the name, 0 for none
 * @returns undefined when nothing is said in time
 */
export async function firstWord(
  health: Pick<Kv<Health>, 'watch'>,
  tenant: string,
  options: { after: number; signal: AbortSignal; timeoutMs: number },
): Promise<Health | undefined> {
  const { after, timeoutMs } = options
  const stop = new AbortController()
  const signal = AbortSignal.any([options.signal, stop.signal, AbortSignal.timeout(timeoutMs)])
  try {
    for await (const event of health.watch({ filter: `tenant.${tenant}`, signal })) {
      if (event.type === 'put' && event.revision > after && event.value.state !== 'listing') return event.value
    }
    return undefined
  } finally {
    stop.abort()
  }
}

/** How a new tenant stands, as a sentence. */
export function servedLine(name: string, hostNamespace: string, said: Health | undefined): string {
  if (said?.state === 'synced') return `tenant ${name} is served; its pods run in host namespace ${hostNamespace}`
  const why = said === undefined ? 'no watcher has reached it so far' : `${said.state}: ${said.message}`
  return `tenant ${name} is registered; not served yet: ${why}`
}
