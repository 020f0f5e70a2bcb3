import { RESOURCES } from '#libs/kube-model'
import { gatewayKind } from '../gateway-api/gateway-kind.ts'

/** Gateways of the tenant, see `gatewayKind`. */
export const gateways = gatewayKind({
  resource: RESOURCES['gateways.gateway.networking.k8s.io'],
  version: 2,
  key: 'gatewayApi.gateways',
})
