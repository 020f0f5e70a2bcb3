import { cloneJson } from '#libs/kernel'
import { RESOURCES } from '#libs/kube-model'
import { isEnabled } from '#libs/sync-config'
import { asName, asObject, objectsIn } from '../../json.ts'
import type { TranslateInput } from '../../kind.ts'
import { hasOwnNamespaces, hostName, hostNamespaceFor } from '../../names.ts'
import { contentOf } from '../../owned-fields.ts'
import { type Content, ownedKind } from '../owned-kind.ts'

/** ReferenceGrants cross where something on the host asks them; what the tenant's objects may do is judged by the originals. */
export const referenceGrants = ownedKind({
  resource: RESOURCES['referencegrants.gateway.networking.k8s.io'],
  version: 2,
  isEnabled: (config) => isEnabled(config, 'toHost', 'gatewayApi.referenceGrants'),
  content,
})

function content({ virtual, tenant }: TranslateInput): Content {
  const fields = cloneJson(contentOf(virtual))
  const spec = asObject(fields.spec)
  const namespace = virtual.metadata.namespace ?? ''
  for (const from of objectsIn(spec?.from)) from.namespace = hostNamespaceFor(asName(from.namespace) ?? '', tenant)
  for (const to of objectsIn(spec?.to)) {
    const name = asName(to.name)
    // Without a name, all of the host namespace is meant; and with one for all, objects of the tenant's other namespaces.
    if (name === undefined && hasOwnNamespaces(tenant)) continue
    if (name === undefined) {
      return {
        kind: 'reject',
        reason: 'Unsupported',
        message: 'a grant for all objects of a kind cannot be said on the host',
      }
    }
    to.name = hostName({ namespace, name }, tenant.name)
  }
  return { kind: 'content', fields }
}
