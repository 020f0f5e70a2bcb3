export { staticClusterConfig } from './auth/cluster-config.ts'
export type { ClusterAccess, ClusterConfig, RefreshReason, TlsMaterial } from './auth/cluster-config.ts'
export { loadClusterConfig } from './auth/load-cluster-config.ts'
export type { ClusterConfigOptions } from './auth/load-cluster-config.ts'
export { createKubeClient } from './client/create-kube-client.ts'
export type {
  Body,
  CallOptions,
  DeleteOptions,
  KubeClient,
  KubeClientOptions,
  ListOptions,
  ListPage,
  PatchOptions,
  RequestOptions,
  Selection,
  Target,
  WatchOptions,
} from './client/kube-client.ts'
export {
  KubeApiError,
  KubeConnectionError,
  KubeconfigError,
  KubeProtocolError,
  isAlreadyExists,
  isConflict,
  isForbidden,
  isInvalid,
  isNotFound,
  isUnauthorized,
} from './errors.ts'
export type { KubeStatus } from './errors.ts'
export { reflect } from './reflector/reflect.ts'
export type { ReflectOptions } from './reflector/reflect.ts'
export type { ListCause } from './reflector/next.ts'
export type {
  BookmarkEvent,
  KnownObject,
  ListedEvent,
  ObjectEvent,
  ReflectorEvent,
  StateEvent,
} from './reflector/reflector-event.ts'
export type { ReflectedObject } from './reflector/watch-line.ts'
