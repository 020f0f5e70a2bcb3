import { type Bus, readOrdered } from '#libs/bus'
import { STREAMS, decodeOutcome } from '#libs/events'
import { systemClock } from '#libs/kernel'
import { type KubeClient, reflect } from '#libs/kube'
import { RESOURCES } from '#libs/kube-model'
import type { SyncRows } from './sync-rows.ts'

/** A table of some tens of rows has no use for every pod of a fleet. */
const WATCHED_TENANTS = 25

/**
 * Feeds the table: from the outcomes in the log, and from each tenant's own API, as its users see it; of a fleet, from
 * that of the first tenants.
 */
export function followInto(
  rows: SyncRows,
  options: { bus: Bus; tenants: readonly { name: string; client: KubeClient }[]; fromSeq: number; signal: AbortSignal },
): Promise<unknown> {
  const { bus, tenants, fromSeq, signal } = options
  const outcomes = async (): Promise<void> => {
    for await (const batch of readOrdered(bus, {
      stream: STREAMS.outcomes,
      startSeq: fromSeq,
      signal,
      onGap: () => undefined,
    })) {
      for (const message of batch) {
        try {
          rows.outcome(decodeOutcome(message))
        } catch {
          // Written by a newer version: the table shows what it can.
        }
      }
    }
  }
  const pods = async (tenant: { name: string; client: KubeClient }): Promise<void> => {
    const events = reflect({
      client: tenant.client,
      resource: RESOURCES.pods,
      clock: systemClock,
      random: Math.random,
      signal,
    })
    for await (const event of events) {
      if (event.type === 'ADDED' || event.type === 'MODIFIED' || event.type === 'DELETED') {
        rows.pod(tenant.name, event.object, event.type === 'DELETED')
      }
    }
  }
  return Promise.all([outcomes(), ...tenants.slice(0, WATCHED_TENANTS).map(pods)])
}

/** Where the outcomes of what happens from now on begin. */
export async function nextOutcome(bus: Bus): Promise<number> {
  return (await bus.manager.streams.info(STREAMS.outcomes)).state.last_seq + 1
}
