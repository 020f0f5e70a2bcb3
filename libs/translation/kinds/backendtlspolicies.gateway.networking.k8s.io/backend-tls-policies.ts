import { RESOURCES } from '#libs/kube-model'
import { gatewayKind } from '../gateway-api/gateway-kind.ts'

/** BackendTLSPolicies of the tenant, see `gatewayKind`. */
export const backendTLSPolicies = gatewayKind({
  resource: RESOURCES['backendtlspolicies.gateway.networking.k8s.io'],
  version: 2,
  key: 'gatewayApi.backendTLSPolicies',
})
