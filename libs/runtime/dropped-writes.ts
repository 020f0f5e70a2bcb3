import { type Bus, type Kv, openKv } from '#libs/bus'
import { sha256Hex } from '#libs/kernel'
import type { ObjectRef } from '#libs/kube-model'

/** That an operator has dropped what of a tenant's object was parked. */
export type DroppedWrites = {
  object: ObjectRef
  /** When, ms since the epoch, and by whom, if that was said. */
  at: number
  by?: string
  /** What it waited for. */
  reason: string
  /** The writes that are meant, by slot and digest, as the translator knows them: another write is tried. */
  writes: { slot: string; digest: string }[]
}

/** Filter of a tenant's keys, of all tenants by default. */
export function droppedFilter(tenant = '*'): string {
  return `dropped.${tenant}.*`
}

/** Key of an object's mark. Names of objects have characters that keys must not have. */
export function droppedKey(tenant: string, { resource, namespace, name }: ObjectRef): string {
  return `dropped.${tenant}.${sha256Hex(`${resource}/${namespace}/${name}`).slice(0, 32)}`
}

/** Opens the bucket of what operators have dropped. Translators alone write it, by order. */
export function openDroppedWrites(bus: Bus, replicas: number): Promise<Kv<DroppedWrites>> {
  return openKv<DroppedWrites>(bus, {
    bucket: 'causeway-dropped',
    replicas,
    description: 'parked writes that operators have dropped',
  })
}
