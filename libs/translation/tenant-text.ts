import type { KubeObject, ObjectRef } from '#libs/kube-model'
import { HIDDEN, withoutHostNames } from './host-words.ts'
import { hostNamespaceFor, hostRefOf } from './names.ts'
import { withoutOwnLabels } from './own-labels-in-text.ts'
import type { TenantContext } from './view.ts'

/** An object of the tenant with its copy, about which somebody on the host says something. */
export type TextAbout = {
  tenant: TenantContext
  original: KubeObject
  copy: KubeObject
  /** Further objects of the tenant that the text may name: what the original refers to. */
  references: readonly ObjectRef[]
  /** Whether a word names something of the host that the tenant does not see, such as a node. @default none does */
  isHidden?: (word: string) => boolean
}

/**
 * A text of the host in the tenant's own names: those of the object it is about, of what that refers to, and of any other
 * copy whose name can be read. The host namespace becomes the object's own. Labels and selector terms of ours are cut,
 * and what names something else of the host is hidden.
 */
export function tenantText(text: string, about: TextAbout): string {
  const { tenant, original, copy, references, isHidden = () => false } = about
  const names = new Map<string, string>()
  const name = (host: string | undefined, own: string | undefined): void => {
    if (host !== undefined && host !== '' && own !== undefined) names.set(host, own)
  }
  const { namespace = '' } = original.metadata
  name(tenant.hostNamespace, namespace === '' ? HIDDEN : namespace)
  for (const ref of references) {
    if (ref.namespace !== '') name(hostNamespaceFor(ref.namespace, tenant), ref.namespace)
    name(hostRefOf(ref, tenant).name, ref.name)
  }
  if (namespace !== '') name(hostNamespaceFor(namespace, tenant), namespace)
  name(copy.metadata.uid, original.metadata.uid)
  name(copy.metadata.name, original.metadata.name)
  return withoutHostNames(withoutTaints(withoutOwnLabels(text), tenant), { names, tenant: tenant.name, isHidden })
}

/** Taints tell whom the host keeps its nodes for: to tenants that see real nodes, with their taints, and to no other. */
function withoutTaints(text: string, { config }: TenantContext): string {
  if (config.sync.fromHost.nodes.enabled) return text
  return text.replace(/ \{([-.\w]+\/)?[-.\w]+: ?[-.\w]*\}/g, (taint, domain: string | undefined) =>
    domain !== undefined && /(^|\.)(kubernetes|k8s)\.io\/$/.test(domain) ? taint : '',
  )
}
