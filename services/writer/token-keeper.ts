import type { Clock } from '#libs/kernel'
import { type KubeObject, RESOURCES } from '#libs/kube-model'
import type { Logger } from '#libs/telemetry'
import { LABELS, hasOwnNamespaces, hostNamespaceFor, stampedUid } from '#libs/translation'
import { isAbsent } from './classify.ts'
import {
  type TokenSecret,
  isTokenRefusal,
  ownedBy,
  renewAtOf,
  renewal,
  requestTokens,
  tokenSecretIn,
} from './pod-tokens.ts'
import { isPlaceOf } from './place-objection.ts'
import type { TenantDirectory, WriterClient } from './ports.ts'

/** What became of a token Secret that was due. */
export const TOKEN_RESULTS = ['renewed', 'removed', 'failed'] as const
export type TokenResult = (typeof TOKEN_RESULTS)[number]

export type TokenKeeperOptions = {
  /** Tenants whose tokens are kept current, right now. */
  tenants: () => string[]
  directory: Pick<TenantDirectory, 'host' | 'tenant'>
  /** Whether the tenants are ours. */
  mayWrite: () => boolean
  clock: Clock
  random: () => number
  logger: Logger
  counted: (result: TokenResult) => void
  /** Ends the keeping. */
  signal: AbortSignal
}

/** The token Secrets of a tenant by namespace and name, with when each is due, ms since the epoch. */
type Kept = { due: Map<string, number>; listAt: number; isBusy: boolean }

const TICK_MS = 1_000
/** All token Secrets of a tenant are asked for again this often: others may have made or removed some. */
const LIST_EVERY_MS = 600_000
const RETRY_MS = 30_000
/** Renewals of one tenant under way at once. */
const PARALLEL = 4
const CALL_TIMEOUT_MS = 10_000

/**
 * Keeps the tokens that tenants' pods mount current: each is asked for anew when most of its life is over. A Secret whose
 * pod is gone on both sides, or never came to be, is removed. What there is to keep is read from the Secrets themselves,
 * so that nothing is lost with a process.
 */
export class TokenKeeper {
  readonly #options: TokenKeeperOptions
  readonly #tenants = new Map<string, Kept>()

  constructor(options: TokenKeeperOptions) {
    this.#options = options
  }

  /** Keeps until the signal aborts. Never rejects. */
  async run(): Promise<void> {
    const { clock, signal } = this.#options
    while (!signal.aborted) {
      this.#tick()
      await clock.sleep(TICK_MS, signal).catch(() => undefined)
    }
  }

  /** A Secret was made: when it is due is looked at soon, with all that were made meanwhile. */
  made(tenant: string): void {
    const kept = this.#kept(tenant)
    kept.listAt = Math.min(kept.listAt, this.#options.clock.now() + RETRY_MS)
  }

  #tick(): void {
    const current = new Set(this.#options.tenants())
    for (const tenant of this.#tenants.keys()) if (!current.has(tenant)) this.#tenants.delete(tenant)
    for (const tenant of current) {
      const kept = this.#kept(tenant)
      if (kept.isBusy || !this.#isDue(kept)) continue
      kept.isBusy = true
      void this.#keep(tenant, kept).finally(() => {
        kept.isBusy = false
      })
    }
  }

  #isDue(kept: Kept): boolean {
    const now = this.#options.clock.now()
    return now >= kept.listAt || kept.due.values().some((due) => now >= due)
  }

  async #keep(tenant: string, kept: Kept): Promise<void> {
    const { clock, signal, logger, directory, mayWrite } = this.#options
    const route = directory.tenant(tenant)
    if (route === undefined || !mayWrite()) return
    const now = clock.now()
    if (now >= kept.listAt) {
      kept.listAt = now + LIST_EVERY_MS
      await this.#list(tenant, kept).catch((error: unknown) => {
        kept.listAt = now + RETRY_MS
        if (!signal.aborted) logger.warn({ tenant, err: error }, 'tokens of pods could not be listed')
      })
    }
    const waiting = [...kept.due].filter(([, due]) => clock.now() >= due).map(([name]) => name)
    const worker = async (): Promise<void> => {
      for (let name = waiting.shift(); name !== undefined && !signal.aborted; name = waiting.shift()) {
        const [namespace = '', secret = ''] = name.split('/')
        await this.#renew({ namespace, name: secret }, { client: route.client, kept, tenant })
      }
    }
    await Promise.all(Array.from({ length: Math.min(PARALLEL, waiting.length) }, worker))
  }

  async #list(tenant: string, kept: Kept): Promise<void> {
    const { directory } = this.#options
    const route = directory.tenant(tenant)
    // In all namespaces, where the tenant's have some of their own.
    const place = route !== undefined && hasOwnNamespaces(route) ? {} : { namespace: route?.hostNamespace ?? '' }
    const found = new Map<string, number>()
    const labelSelector = `${LABELS.tokenOf}=${tenant}`
    for await (const { items } of directory
      .host()
      .listPages(RESOURCES.secrets, { ...this.#call(), ...place, labelSelector })) {
      for (const secret of items) {
        // One that nobody owns yet is looked at: its pod may never have come to be.
        const isOwned = (secret.metadata.ownerReferences?.length ?? 0) > 0
        found.set(idOf(secret.metadata), isOwned ? renewAtOf(secret) : 0)
      }
    }
    kept.due = found
  }

  async #renew(
    target: { namespace: string; name: string },
    { client, kept, tenant }: { client: WriterClient; kept: Kept; tenant: string },
  ): Promise<void> {
    const { clock, signal, logger, counted } = this.#options
    try {
      const due = await this.#renewed(target, client, tenant)
      if (due === undefined) kept.due.delete(idOf(target))
      else kept.due.set(idOf(target), due)
    } catch (error) {
      if (signal.aborted) return
      counted('failed')
      logger.warn({ tenant, secret: target.name, err: error }, 'tokens of a pod could not be renewed')
      kept.due.set(idOf(target), clock.now() + RETRY_MS * (1 + this.#options.random()))
    }
  }

  /** @returns when it is due again; undefined when it is gone */
  async #renewed(
    target: { namespace: string; name: string },
    client: WriterClient,
    tenant: string,
  ): Promise<number | undefined> {
    const host = this.#options.directory.host()
    const live = await orAbsent(host.get(RESOURCES.secrets, target, this.#call()))
    const of = live === undefined ? undefined : tokenSecretIn(live)
    const route = this.#options.directory.tenant(tenant)
    if (live === undefined || of?.tenant !== tenant || route === undefined) return undefined
    // Whoever may write Secrets elsewhere must not be given tokens of the tenant's.
    if (hostNamespaceFor(of.pod.namespace, route) !== target.namespace) return undefined
    const place = { host, namespace: target.namespace, of: of.pod.namespace }
    if ((await isPlaceOf(route, place, this.#call())) !== true) return undefined
    const copy = await this.#copyOf(of)
    if (copy === undefined && (await this.#isPodGone(of, client))) return await this.#remove(live)
    if (copy !== undefined && (live.metadata.ownerReferences?.length ?? 0) === 0) {
      const owner = { name: copy.metadata.name ?? '', uid: copy.metadata.uid ?? '' }
      await host.patch(RESOURCES.secrets, target, ownedBy(owner), { ...this.#call(), type: 'merge' })
    }
    const due = renewAtOf(live)
    if (due > this.#options.clock.now()) return due
    try {
      const issued = await requestTokens(client, of, this.#call())
      await host.patch(RESOURCES.secrets, target, renewal(live, issued), { ...this.#call(), type: 'merge' })
      this.#options.counted('renewed')
      return issued.renewAt
    } catch (error) {
      // The tenant's pod is on its way out; its copy takes the Secret along.
      if (isTokenRefusal(error) && (await this.#isPodGone(of, client))) return this.#options.clock.now() + RETRY_MS
      throw error
    }
  }

  /** The copy that mounts the tokens, if it is there. */
  async #copyOf(of: TokenSecret): Promise<KubeObject | undefined> {
    const copy = await orAbsent(this.#options.directory.host().get(RESOURCES.pods, of.copy, this.#call()))
    return copy !== undefined && stampedUid(copy) === of.tokens.podUid ? copy : undefined
  }

  async #isPodGone(of: TokenSecret, client: WriterClient): Promise<boolean> {
    const pod = await orAbsent(client.get(RESOURCES.pods, of.pod, this.#call()))
    return pod?.metadata.uid !== of.tokens.podUid
  }

  async #remove({ metadata }: KubeObject): Promise<undefined> {
    const { name = '', namespace = '', uid = '' } = metadata
    await orAbsent(
      this.#options.directory.host().delete(RESOURCES.secrets, { name, namespace }, { ...this.#call(), uid }),
    )
    this.#options.counted('removed')
    return undefined
  }

  #call(): { signal: AbortSignal; timeoutMs: number } {
    return { signal: this.#options.signal, timeoutMs: CALL_TIMEOUT_MS }
  }

  #kept(tenant: string): Kept {
    const existing = this.#tenants.get(tenant)
    if (existing !== undefined) return existing
    const { clock, random } = this.#options
    const kept = { due: new Map<string, number>(), listAt: clock.now() + random() * RETRY_MS, isBusy: false }
    this.#tenants.set(tenant, kept)
    return kept
  }
}

async function orAbsent<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await call
  } catch (error) {
    if (isAbsent(error)) return undefined
    throw error
  }
}

/** Names contain no slash. */
function idOf({ namespace = '', name = '' }: { namespace?: string; name?: string }): string {
  return `${namespace}/${name}`
}
