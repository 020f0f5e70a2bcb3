import { RESOURCES } from '#libs/kube-model'
import { asName, presentFields } from '../../json.ts'
import { mappedData } from './mapped-data.ts'

/** Types by which a cluster lets somebody in: no tenant gets credentials of the host. */
const CREDENTIALS = ['kubernetes.io/service-account-token', 'bootstrap.kubernetes.io/token']

/** Secrets of the host that the tenant sees. */
export const hostSecrets = mappedData({
  resource: RESOURCES.secrets,
  version: 1,
  configKey: 'secrets',
  fields: ({ type, data }) => {
    const given = asName(type) ?? 'Opaque'
    return CREDENTIALS.includes(given) ? undefined : (presentFields({ type: given, data }) ?? {})
  },
  immutable: ['type'],
})
