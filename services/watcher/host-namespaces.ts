import type { KubeClient } from '#libs/kube'
import { type KubeObject, RESOURCES } from '#libs/kube-model'
import type { TenantDirectory } from '#libs/runtime'
import { LABELS, hasOwnNamespaces, isCopyOf, virtualRefOf } from '#libs/translation'

/** Of tenants whose namespaces have host namespaces of their own: whose each of those is. */
export class HostNamespaces {
  readonly #directory: Pick<TenantDirectory, 'context'>
  readonly #owners = new Map<string, string>()

  constructor(directory: Pick<TenantDirectory, 'context'>) {
    this.#directory = directory
  }

  /** Notes a host namespace that was seen, if it is the copy of one of the tenant's. */
  note(tenant: string, object: KubeObject): void {
    const { name = '' } = object.metadata
    const context = this.#directory.context(tenant)
    const owner = virtualRefOf(object)
    if (context === undefined || owner === undefined || !isCopyOf(object, context, owner.ref)) return
    if (hasOwnNamespaces(context)) this.#owners.set(name, tenant)
  }

  /** Notes all that are there, for a watch that goes on where an earlier one ended. */
  async read(host: Pick<KubeClient, 'listPages'>, signal: AbortSignal): Promise<void> {
    for await (const { items } of host.listPages(RESOURCES.namespaces, { labelSelector: LABELS.tenant, signal })) {
      for (const item of items) this.note(item.metadata.labels?.[LABELS.tenant] ?? '', item)
    }
  }

  /** The tenant whose copies are in a host namespace, as far as it was seen. */
  tenantOf(namespace: string): string | undefined {
    const tenant = this.#owners.get(namespace)
    const context = tenant === undefined ? undefined : this.#directory.context(tenant)
    return context !== undefined && hasOwnNamespaces(context) ? tenant : undefined
  }
}
