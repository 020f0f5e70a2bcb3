import { RESOURCES } from '#libs/kube-model'
import { presentFields } from '../../json.ts'
import { mappedData } from './mapped-data.ts'

/** Every cluster publishes its own under this name, in each namespace. */
const ROOT_CA = 'kube-root-ca.crt'

/** ConfigMaps of the host that the tenant sees. */
export const hostConfigMaps = mappedData({
  resource: RESOURCES.configmaps,
  version: 1,
  configKey: 'configMaps',
  fields: ({ metadata, data, binaryData }) =>
    metadata.name === ROOT_CA ? undefined : (presentFields({ data, binaryData }) ?? {}),
})
