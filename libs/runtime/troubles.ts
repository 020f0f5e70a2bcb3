import { type Bus, type Kv, openKv } from '#libs/bus'

/** What last ended the work of a role on a partition before its time. */
export type Trouble = { at: number; owner: string; message: string }

/** Long enough to be seen by whoever asks the next morning. */
const TTL_MS = 86_400_000
/** A message may quote an answer of any length. */
const MESSAGE_LIMIT = 1_024

/** Opens the bucket of what went wrong last, by `<role>.<partition>`. Nothing starts from it. */
export function openTroubles(bus: Bus, replicas: number): Promise<Kv<Trouble>> {
  return openKv<Trouble>(bus, {
    bucket: 'causeway-troubles',
    replicas,
    ttlMs: TTL_MS,
    description: 'what last ended work on a partition',
  })
}

/** Tells what ended the work on a partition. Rejects when it cannot be told. */
export async function tellTrouble(
  bus: Bus,
  of: { role: string; partition: number; replicas: number; trouble: Trouble },
): Promise<void> {
  const { role, partition, replicas, trouble } = of
  const troubles = await openTroubles(bus, replicas)
  await troubles.put(`${role}.${partition}`, { ...trouble, message: trouble.message.slice(0, MESSAGE_LIMIT) })
}
