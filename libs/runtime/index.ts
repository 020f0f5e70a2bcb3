export {
  HOST_IDENTITY,
  IDENTITIES_BUCKET,
  openClusterClaims,
  openClusterIdentities,
  tenantIdentityKey,
} from './cluster-identities.ts'
export type { ClusterClaim, ClusterIdentity } from './cluster-identities.ts'
export { readTenantContext } from './accept-entry.ts'
export { CloseStack } from './close-stack.ts'
export { CONFIRMATION_PREFIX, HOLD_PREFIX, openDeletionHolds } from './deletion-holds.ts'
export type { DeletionHold, HoldConfirmation } from './deletion-holds.ts'
export { droppedFilter, droppedKey, openDroppedWrites } from './dropped-writes.ts'
export type { DroppedWrites } from './dropped-writes.ts'
export { forgetRegistration } from './forget-registration.ts'
export { agreeOnInstallation } from './installation.ts'
export { serveHealth } from './health-server.ts'
export type { HealthServer } from './health-server.ts'
export { HOST_PLACE, giveOrder, keepOpenOrders, openOrders } from './orders.ts'
export type { Order, OrderAnswer, OrderAnswerOf, Orders, PlacedOrder } from './orders.ts'
export { ownPartitions } from './own-partitions.ts'
export type { OwnPartitionsOptions, OwnedPartition, PartitionOwner } from './own-partitions.ts'
export type { Role } from './role.ts'
export { openRoleContext } from './role-context.ts'
export type { RoleContext } from './role-context.ts'
export { lazyClusterConfig } from './lazy-cluster-config.ts'
export { runPipelineService } from './run-pipeline-service.ts'
export { runService } from './run-service.ts'
export { openTenantDirectory } from './tenant-directory.ts'
export type { TenantDirectory, TenantDirectoryOptions, TenantEvent } from './tenant-directory.ts'
export type { HostEntry, TenantEntry } from './tenant-entry.ts'

export { openTenantRegistry } from './tenant-registry.ts'
export type { TenantRegistry } from './tenant-registry.ts'
export { openWaitingReports, waitingKey } from './waiting-objects.ts'
export type { WaitingReport } from './waiting-objects.ts'
export { openTroubles } from './troubles.ts'
export type { Trouble } from './troubles.ts'
