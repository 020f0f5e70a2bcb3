import { userInfo } from 'node:os'
import { REASONS, partitionOf } from '#libs/events'
import { ConfigError, systemClock } from '#libs/kernel'
import { type ObjectRef, type ResourceInfo, resourceToken } from '#libs/kube-model'
import { type Order, type OrderAnswerOf, type TenantEntry, giveOrder } from '#libs/runtime'
import type { Running } from '../tenant/running.ts'
import { askedObject } from '../why/asked-object.ts'

/** What waits for it has no outcome and no Event: it passes within a moment. */
const PASSING = 'WaitingForReference'

/** A tenant by its name. @throws ConfigError when there is none */
export async function askedTenant({ registry }: Running, name: string | undefined): Promise<TenantEntry> {
  if (name === undefined) throw new ConfigError(['whose? name the tenant with -t'])
  const entry = await registry.get(name)
  if (entry !== undefined) return entry
  throw new ConfigError([`no tenant "${name}": "causeway tenant list" shows those there are`])
}

/** The object of a tenant that `KIND/NAME` means. @throws ConfigError */
export function askedRef(
  text: string,
  { namespace, tenant }: { namespace: string; tenant: TenantEntry },
): { ref: ObjectRef; info: ResourceInfo } {
  const { info, name } = askedObject(text, tenant)
  return { info, ref: { resource: resourceToken(info), namespace: info.namespaced ? namespace : '', name } }
}

/** A reason as documented. @throws ConfigError for any other */
export function askedReason(reason: string | undefined): { reason?: string } {
  if (reason === undefined) return {}
  if (reason === PASSING || REASONS.some((each) => each === reason)) return { reason }
  throw new ConfigError([`"${reason}" is no reason: docs/reasons.md lists them`])
}

/** Who asks, for whoever looks at it later. */
export function askedBy(): { by?: string } {
  try {
    return { by: userInfo().username }
  } catch {
    return {}
  }
}

/** Has a tenant's translator carry an order out. @throws CausewayError `NoOwner`, `NotAnswered` */
export function giveTo<K extends 'retry' | 'drop'>(
  { bus, info }: Running,
  tenant: string,
  of: { order: Extract<Order, { kind: K }>; signal: AbortSignal },
): Promise<OrderAnswerOf<K>> {
  const partition = partitionOf(tenant, info.partitions)
  return giveOrder<K>(bus, { ...of, partition, replicas: info.replicas, clock: systemClock })
}
