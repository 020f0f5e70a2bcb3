import type { JsonObject, KubeObject } from '#libs/kube-model'
import { RESOURCES } from '#libs/kube-model'
import { isEnabled } from '#libs/sync-config'
import { asObject } from '../../json.ts'
import { contentOf } from '../../owned-fields.ts'
import { classMirror } from '../class-mirror.ts'

/** The host's GatewayClasses with their status, which the tenant's Gateways may name. */
export const gatewayClasses = classMirror({
  resource: RESOURCES['gatewayclasses.gateway.networking.k8s.io'],
  version: 1,
  isEnabled: (config) => isEnabled(config, 'fromHost', 'gatewayClasses'),
  selector: (config) => config.sync.fromHost.gatewayClasses.selector,
  fields: withoutParameters,
  immutable: ['spec.controllerName'],
  status: true,
})

/** Parameters are an object of the host that the tenant cannot read, and that may say more than it is to know. */
function withoutParameters(host: KubeObject): JsonObject {
  const { spec, ...content } = contentOf(host)
  const { parametersRef: _parametersRef, ...rest } = asObject(spec) ?? {}
  return { ...content, spec: rest }
}
