import type { Kv } from '#libs/bus'
import { CausewayError } from '#libs/kernel'
import type { KubeClient } from '#libs/kube'
import { type ClusterClaim, type ClusterIdentity, HOST_IDENTITY, IDENTITIES_BUCKET } from '#libs/runtime'
import { DefinitionNews } from './definition-news.ts'

/** Another cluster answers under the kubeconfig than the one that was onboarded. */
export class ClusterChangedError extends CausewayError {
  constructor(name: string, uids: { stored: string; found: string }) {
    super(
      `${name} is another cluster than before: uid of its kube-system is ${uids.found}, was ${uids.stored}. If that is ` +
        `meant, delete key "${name}" of bucket ${IDENTITIES_BUCKET}; nothing is published until then.`,
      { code: 'ClusterChanged' },
    )
  }
}

/** The host's own cluster is given as a tenant: every copy there would be copied again, without end. */
export class HostAsTenantError extends CausewayError {
  constructor(name: string) {
    super(`${name} is the host's own cluster (uid of kube-system): give the tenant the kubeconfig of its own`, {
      code: 'HostAsTenant',
    })
  }
}

/** Two tenants of one cluster would delete one another's pods. */
export class SharedClusterError extends CausewayError {
  constructor(name: string, owner: string) {
    super(`${name} is the cluster of ${owner} (uid of kube-system): give each tenant the kubeconfig of its own`, {
      code: 'SharedCluster',
    })
  }
}

/** What keeps a cluster for one tenant: see `openClusterClaims`. */
export type Claims = {
  kv: Kv<ClusterClaim>
  /** Whether a tenant's registration, by its identity key, still stands. */
  isRegistered: (identityKey: string) => boolean
}

/** Answers of one second ago count: the kinds of a cluster reconnect together. */
const FRESH_MS = 1_000
const TIMEOUT_MS = 10_000

/** One cluster's API, together with the knowledge which cluster it must be. */
export class WatchedCluster {
  /** Key of its identity, and its name in messages. */
  readonly name: string
  /** Wakes the watches of kinds that were not served. */
  readonly definitions = new DefinitionNews()
  readonly #client: () => KubeClient
  readonly #identities: Kv<ClusterIdentity>
  readonly #claims: Claims | undefined
  #verifying: Promise<string> | undefined
  #verifiedAt = Number.NEGATIVE_INFINITY
  #identity = ''

  /** @param options.claims absent for the host, which is nobody's */
  constructor(options: { name: string; client: () => KubeClient; identities: Kv<ClusterIdentity>; claims?: Claims }) {
    this.name = options.name
    this.#client = options.client
    this.#identities = options.identities
    this.#claims = options.claims
  }

  /** The client of now: another one when the kubeconfig has been replaced. */
  get client(): KubeClient {
    return this.#client()
  }

  /** The identity, as verified last. */
  get identity(): string {
    return this.#identity
  }

  /**
   * Asks the cluster who it is and compares that with what was stored at onboarding, which is now if nothing is stored.
   * @returns its identity
   * @throws ClusterChangedError, HostAsTenantError, SharedClusterError, or what the client throws when there is no answer
   */
  verify(options: { fresh?: boolean; signal?: AbortSignal } = {}): Promise<string> {
    if (options.fresh !== true && performance.now() - this.#verifiedAt < FRESH_MS)
      return Promise.resolve(this.#identity)
    if (options.fresh === true) return this.#verify(options.signal)
    this.#verifying ??= this.#verify(options.signal).finally(() => {
      this.#verifying = undefined
    })
    return this.#verifying
  }

  async #verify(signal: AbortSignal | undefined): Promise<string> {
    const found = await this.client.clusterIdentity({ timeoutMs: TIMEOUT_MS, signal })
    if (found === '') throw new CausewayError(`${this.name} has no kube-system with a uid`, { code: 'NoIdentity' })
    if (this.name !== HOST_IDENTITY && (await this.#identities.get(HOST_IDENTITY))?.value.uid === found) {
      throw new HostAsTenantError(this.name)
    }
    const stored = (await this.#identities.get(this.name))?.value.uid ?? (await this.#remember(found))
    if (stored !== found) throw new ClusterChangedError(this.name, { stored, found })
    if (this.#claims !== undefined) await this.#claim(found, this.#claims)
    this.#identity = found
    this.#verifiedAt = performance.now()
    return found
  }

  /** @throws SharedClusterError when another registered tenant was there first */
  async #claim(cluster: string, { kv, isRegistered }: Claims): Promise<void> {
    for (;;) {
      const claim = await kv.get(cluster)
      if (claim?.value.tenant === this.name) return
      if (claim !== undefined && isRegistered(claim.value.tenant))
        throw new SharedClusterError(this.name, claim.value.tenant)
      const taken =
        claim === undefined
          ? await kv.create(cluster, { tenant: this.name })
          : await kv.update(cluster, { tenant: this.name }, claim.revision)
      if (taken !== undefined) return
    }
  }

  /** Another process may have been faster: what is stored counts. */
  async #remember(uid: string): Promise<string> {
    await this.#identities.create(this.name, { uid })
    return (await this.#identities.get(this.name))?.value.uid ?? uid
  }
}
