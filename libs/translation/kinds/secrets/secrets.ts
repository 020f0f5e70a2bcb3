import { type KubeObject, RESOURCES } from '#libs/kube-model'
import { asName } from '../../json.ts'
import { secretTag } from '../../three-way.ts'
import { keyedDataKind } from '../keyed-data.ts'

const SERVICE_ACCOUNT_TOKEN = 'kubernetes.io/service-account-token'

/** Secrets cross while a pod that crosses refers to them. */
export const secrets = keyedDataKind({
  resource: RESOURCES.secrets,
  version: 1,
  fields: ['data'],
  tag: secretTag,
  hostType,
})

/**
 * Types cross as they are, except for tokens of the tenant's service accounts: the host would fill such a Secret with
 * a token of its own, or delete it for want of the account.
 */
function hostType(virtual: KubeObject): string {
  const type = asName(virtual.type) ?? 'Opaque'
  return type === SERVICE_ACCOUNT_TOKEN ? 'Opaque' : type
}
