import { type Bus, openKv } from '#libs/bus'
import { openClusterClaims, openClusterIdentities, tenantIdentityKey } from './cluster-identities.ts'
import { CONFIRMATION_PREFIX, HOLD_PREFIX, openDeletionHolds } from './deletion-holds.ts'
import { droppedFilter, openDroppedWrites } from './dropped-writes.ts'
import { openWaitingReports, waitingKey } from './waiting-objects.ts'

/**
 * Removes what services have kept of a tenant in buckets, once it is registered no more: where its watches stood, which
 * cluster it had, what waited. To be called when nothing follows it any longer; what is left otherwise harms nobody.
 */
export async function forgetRegistration(
  bus: Bus,
  { name, uid, replicas }: { name: string; uid: string; replicas: number },
): Promise<void> {
  const positions = await openKv(bus, { bucket: 'positions', replicas })
  for (const { key } of await positions.list(`watcher.virtual.${name}.>`)) await positions.delete(key)
  const identity = tenantIdentityKey({ name, uid })
  await (await openClusterIdentities(bus, replicas)).delete(identity)
  const claims = await openClusterClaims(bus, replicas)
  for (const { key, value, revision } of await claims.list()) {
    if (value.tenant === identity) await claims.delete(key, revision)
  }
  await (await openWaitingReports(bus, replicas)).delete(waitingKey(name))
  const dropped = await openDroppedWrites(bus, replicas)
  for (const { key } of await dropped.list(droppedFilter(name))) await dropped.delete(key)
  const holds = await openDeletionHolds(bus, replicas)
  for (const prefix of [HOLD_PREFIX, CONFIRMATION_PREFIX]) await holds.delete(prefix + name)
}
