import { type Bus, readLast } from '#libs/bus'
import { STREAMS, fleetFilter, parseSubject } from '#libs/events'
import { type KubeObject, type ResourceInfo, resourceToken } from '#libs/kube-model'
import type { TenantDirectory } from '#libs/runtime'

/** Names remembered: volumes come and go, and nothing tells when the last is said of one. */
const LIMIT = 20_000

/**
 * Whose the copies without namespace are, by name, so that what the host says of them finds its tenant. A guess is
 * enough: whoever takes it in looks at the stamps of the copy itself.
 */
export class UnplacedCopies {
  readonly #directory: Pick<TenantDirectory, 'tenant'>
  readonly #owners = new Map<string, string>()

  constructor(directory: Pick<TenantDirectory, 'tenant'>) {
    this.#directory = directory
  }

  /** Notes a copy that was seen. */
  note(tenant: string, name: string): void {
    this.#owners.delete(name)
    this.#owners.set(name, tenant)
    const oldest = this.#owners.size > LIMIT ? this.#owners.keys().next() : undefined
    if (oldest?.done === false) this.#owners.delete(oldest.value)
  }

  /** Notes all that the log has, for watches that go on where earlier ones ended. */
  async read(bus: Bus, kinds: readonly ResourceInfo[], signal: AbortSignal): Promise<void> {
    const filterSubjects = kinds.filter(({ namespaced }) => !namespaced).map((kind) => fleetFilter(resourceToken(kind)))
    if (filterSubjects.length === 0) return
    for await (const batch of readLast(bus, { stream: STREAMS.state, filterSubjects, signal })) {
      for (const { subject } of batch) {
        const { tenant, name } = parseSubject(subject).key
        if (tenant !== '') this.note(tenant, name)
      }
    }
  }

  /** The tenant whose copy an Event of the host may be about, if that copy has no namespace. */
  tenantOf(event: KubeObject): string | undefined {
    const { namespace, name } = (event['involvedObject'] ?? {}) as { namespace?: unknown; name?: unknown }
    if ((namespace !== undefined && namespace !== '') || typeof name !== 'string') return undefined
    // It may be told of a copy before the copy is seen; in most names the tenant stands last.
    const tenant = this.#owners.get(name) ?? name.split('-x-').at(-1) ?? ''
    return this.#directory.tenant(tenant)?.name
  }
}
