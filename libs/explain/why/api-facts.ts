import { openKv } from '#libs/bus'
import type { Side } from '#libs/kube-model'
import type { Sources } from '../sources.ts'
import type { ApiFact } from './facts.ts'
import type { LiveObject } from './live-object.ts'

type Health = { state: string; message: string }

/** How it stands with the two APIs. @throws BusError */
export async function apiFacts(
  { bus, replicas }: Pick<Sources, 'bus' | 'replicas'>,
  tenant: string,
): Promise<(live: Record<Side, LiveObject>) => Record<Side, ApiFact>> {
  const kv = await openKv<Health>(bus, { bucket: 'causeway-status', replicas })
  const [virtual, host] = await Promise.all([kv.get(`tenant.${tenant}`), kv.get('host')])
  const fact = (entry: { value: Health } | undefined, live: LiveObject): ApiFact => ({
    state: entry?.value.state ?? 'unknown',
    message: entry?.value.message ?? '',
    ...(live.state === 'unknown' ? { problem: { reason: live.reason, message: live.message } } : {}),
  })
  return (live) => ({ virtual: fact(virtual, live.virtual), host: fact(host, live.host) })
}
