import { type Bus, openKv } from '#libs/bus'
import { ConfigError } from '#libs/kernel'

/** What all processes of an installation must agree on, for as long as its log lives. */
export type Installation = { partitions: number }

/** Bucket with the one key `installation`. */
const BUCKET = 'causeway-installation'
const KEY = 'installation'

/**
 * Fixes the number of partitions at the first start, and holds every later one to it: with another number, a tenant's
 * records would be looked for in the wrong places.
 * @throws ConfigError naming the number to use
 */
export async function agreeOnInstallation(bus: Bus, wanted: Installation & { replicas: number }): Promise<void> {
  const { partitions, replicas } = wanted
  const kv = await openKv<Installation>(bus, {
    bucket: BUCKET,
    replicas,
    description: 'what is fixed at the first start',
  })
  if ((await kv.create(KEY, { partitions })) !== undefined) return
  const fixed = (await kv.get(KEY))?.value.partitions
  if (fixed === undefined || fixed === partitions) return
  throw new ConfigError([
    `partitions: this installation was made with ${fixed} and cannot change to ${partitions}: set CAUSEWAY_PARTITIONS (or --partitions) to ${fixed}`,
  ])
}
