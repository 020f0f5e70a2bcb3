import type { KubeObject, ObjectRef } from '#libs/kube-model'
import { hostNamespaceFor, hostRefOf } from './names.ts'
import type { TenantContext } from './view.ts'

/** An object of the tenant with its copy, about which somebody on the host says something. */
export type TextAbout = {
  tenant: TenantContext
  original: KubeObject
  copy: KubeObject
  /** Further objects of the tenant that the text may name: what the original refers to. */
  references: readonly ObjectRef[]
}

/**
 * A text of the host in the tenant's own names: those of the object it is about, of what that refers to, and of any other
 * copy whose name can be read. The host namespace becomes the object's own.
 */
export function tenantText(text: string, about: TextAbout): string {
  const { tenant, original, copy, references } = about
  const names = new Map<string, string>()
  const name = (host: string | undefined, own: string | undefined): void => {
    if (host !== undefined && host !== '' && own !== undefined) names.set(host, own)
  }
  for (const ref of references) name(hostRefOf(ref, tenant).name, ref.name)
  const { namespace = '' } = original.metadata
  name(hostNamespaceFor(namespace, tenant), namespace)
  name(copy.metadata.uid, original.metadata.uid)
  name(copy.metadata.name, original.metadata.name)
  return text.replace(/[-.a-z0-9]+/g, (word) => {
    // A full stop may end the sentence.
    const bare = word.replace(/\.+$/, '')
    const known = names.get(bare) ?? readable(bare, tenant.name)
    return known === undefined ? word : known + word.slice(bare.length)
  })
}

/** The original name in a plain host name of this tenant. */
function readable(name: string, tenant: string): string | undefined {
  const parts = name.split('-x-')
  return parts.length === 3 && parts[2] === tenant ? parts[0] : undefined
}
