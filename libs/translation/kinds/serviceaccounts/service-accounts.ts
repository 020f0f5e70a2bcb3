import { cloneJson } from '#libs/kernel'
import { type KubeObject, type ObjectRef, RESOURCES } from '#libs/kube-model'
import { isEnabled } from '#libs/sync-config'
import { asName, objectsIn } from '../../json.ts'
import type { TranslateInput } from '../../kind.ts'
import { hostName } from '../../names.ts'
import { contentOf } from '../../owned-fields.ts'
import { type Content, ownedKind } from '../owned-kind.ts'

/** ServiceAccounts cross, so that pods run under their own: what they may do on the host is the operator's to say. */
export const serviceAccounts = ownedKind({
  resource: RESOURCES.serviceaccounts,
  version: 1,
  isEnabled: (config) => isEnabled(config, 'toHost', 'serviceAccounts'),
  refersTo: ['secrets'],
  references: ({ virtual }) => (virtual === undefined ? [] : pullSecrets(virtual)),
  // The host's controllers keep tokens of the copy here.
  hostFields: ['secrets'],
  content,
})

function pullSecrets(virtual: KubeObject): ObjectRef[] {
  const namespace = virtual.metadata.namespace ?? ''
  return objectsIn(virtual.imagePullSecrets).flatMap((secret) => {
    const name = asName(secret.name)
    return name === undefined ? [] : [{ resource: 'secrets', namespace, name }]
  })
}

function content({ virtual, tenant }: TranslateInput): Content {
  // Secrets hold tokens of the tenant's API, which mean nothing on the host.
  const { secrets: _secrets, ...fields } = cloneJson(contentOf(virtual))
  const namespace = virtual.metadata.namespace ?? ''
  for (const secret of objectsIn(fields.imagePullSecrets)) {
    const name = asName(secret.name)
    if (name !== undefined) secret.name = hostName({ namespace, name }, tenant.name)
  }
  // A token of the host's API is never for the tenant's pods.
  return { kind: 'content', fields: { ...fields, automountServiceAccountToken: false } }
}
