import { type KubeObject, RESOURCES } from '#libs/kube-model'
import { asName } from '../../json.ts'
import { secretTag } from '../../three-way.ts'
import { keyedDataKind } from '../keyed-data.ts'

/** Types that a controller of a cluster gives a meaning: on the host they would be credentials, or be deleted. */
const MEANT_FOR_ITS_CLUSTER = ['kubernetes.io/service-account-token', 'bootstrap.kubernetes.io/token']

/** Secrets cross while a pod that crosses refers to them. */
export const secrets = keyedDataKind({
  resource: RESOURCES.secrets,
  version: 2,
  configKey: 'secrets',
  fields: ['data'],
  tag: secretTag,
  hostType,
})

/** Types cross as they are, so that pull secrets and the like work; those of the tenant's own cluster become plain. */
function hostType(virtual: KubeObject): string {
  const type = asName(virtual.type) ?? 'Opaque'
  return MEANT_FOR_ITS_CLUSTER.includes(type) ? 'Opaque' : type
}
