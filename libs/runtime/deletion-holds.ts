import { type Bus, type Kv, openKv } from '#libs/bus'
import type { Side } from '#libs/kube-model'

/** Why a tenant's deletions are stopped: very many of its objects vanished from one side at once. */
export type DeletionHold = {
  /** When it began, ms since the epoch. */
  since: number
  /** The side that the objects vanished from. */
  side: Side
  /** The kind with which it began; empty where that is not known any more. */
  resource: string
  /** How many deletions wait. */
  waiting: number
  /** What a live read said against it, if one did. */
  contradiction?: string
  /** Whether no further live read can end it: the cluster is in an earlier state than it was in. */
  needsOperator?: boolean
}

/** An operator's word that the hold which began then is to end. */
export type HoldConfirmation = { since: number }

export const HOLD_PREFIX = 'hold.'
export const CONFIRMATION_PREFIX = 'confirmed.'

/** Opens the bucket of stopped deletions: `hold.<tenant>` as translators tell it, `confirmed.<tenant>` as operators answer. */
export function openDeletionHolds(bus: Bus, replicas: number): Promise<Kv<DeletionHold | HoldConfirmation>> {
  return openKv<DeletionHold | HoldConfirmation>(bus, {
    bucket: 'causeway-holds',
    replicas,
    description: 'tenants whose deletions are stopped',
  })
}
