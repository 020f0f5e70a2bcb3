import { RESOURCES } from '#libs/kube-model'
import { gatewayKind } from '../gateway-api/gateway-kind.ts'

/** TLSRoutes of the tenant, see `gatewayKind`. */
export const tlsRoutes = gatewayKind({
  resource: RESOURCES['tlsroutes.gateway.networking.k8s.io'],
  version: 2,
  key: 'gatewayApi.tlsRoutes',
})
