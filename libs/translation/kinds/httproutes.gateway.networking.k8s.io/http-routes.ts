import { RESOURCES } from '#libs/kube-model'
import { gatewayKind } from '../gateway-api/gateway-kind.ts'

/** HTTPRoutes of the tenant, see `gatewayKind`. */
export const httpRoutes = gatewayKind({
  resource: RESOURCES['httproutes.gateway.networking.k8s.io'],
  version: 2,
  key: 'gatewayApi.httpRoutes',
})
