import { type Bus, type Kv, openKv } from '#libs/bus'
import type { ObjectRef } from '#libs/kube-model'

/** What of one tenant waits: tenants of which nothing does have no report. */
export type WaitingReport = {
  /** How many objects wait, by reason. */
  counts: Record<string, number>
  /** Those that have waited longest, not necessarily all. `since` in ms since the epoch. */
  objects: (ObjectRef & { reason: string; since: number })[]
  /** The one that began to wait last, with the API's words; those about Secrets, which may quote them, are left out. */
  newest?: ObjectRef & { reason: string; since: number; message?: string }
}

/** Key of a tenant's report. */
export function waitingKey(tenant: string): string {
  return `tenant.${tenant}`
}

/** Opens the bucket in which translators tell what waits, every few seconds. */
export function openWaitingReports(bus: Bus, replicas: number): Promise<Kv<WaitingReport>> {
  return openKv<WaitingReport>(bus, {
    bucket: 'causeway-waiting',
    replicas,
    description: 'what of each tenant waits, and why',
  })
}
