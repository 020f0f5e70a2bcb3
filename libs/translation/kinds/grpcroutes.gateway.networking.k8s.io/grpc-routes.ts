import { RESOURCES } from '#libs/kube-model'
import { gatewayKind } from '../gateway-api/gateway-kind.ts'

/** GRPCRoutes of the tenant, see `gatewayKind`. */
export const grpcRoutes = gatewayKind({
  resource: RESOURCES['grpcroutes.gateway.networking.k8s.io'],
  version: 2,
  key: 'gatewayApi.grpcRoutes',
})
