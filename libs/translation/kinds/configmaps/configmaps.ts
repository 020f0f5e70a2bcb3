import { RESOURCES } from '#libs/kube-model'
import { plainTag } from '../../three-way.ts'
import { keyedDataKind } from '../keyed-data.ts'

/** ConfigMaps cross while a pod that crosses refers to them. */
export const configMaps = keyedDataKind({
  resource: RESOURCES.configmaps,
  version: 2,
  configKey: 'configMaps',
  fields: ['data', 'binaryData'],
  tag: plainTag,
})
