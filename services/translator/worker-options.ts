import type { Bus, Publisher } from '#libs/bus'
import type { DeletionLimits } from '#libs/config'
import type { StreamName } from '#libs/events'
import type { Clock, Pacer } from '#libs/kernel'
import type { Projection } from '#libs/projection'
import type { Logger, Tracing } from '#libs/telemetry'
import type { TenantContext } from '#libs/translation'
import type { Vault } from '#libs/vault'
import type { HoldBoard } from './deletion-guard.ts'
import type { DroppedMarks } from './dropped-marks.ts'
import type { TranslatorMetrics } from './metrics.ts'

/** What the work on a partition needs. */
export type PartitionWorkerOptions = {
  partition: number
  partitions: number
  fence: number
  bus: Bus
  publisher: Publisher
  projection: Projection
  vault: Vault
  clock: Clock
  /** Shared by all partitions of the process. @default one of its own */
  pacer?: Pacer
  random: () => number
  logger: Logger
  metrics: TranslatorMetrics
  /** @default none */
  tracing?: Tracing
  /** A registered tenant, `undefined` for one that is not (yet). */
  tenant: (name: string) => TenantContext | undefined
  tenants: () => { name: string; uid: string }[]
  /** Stores how far a stream is processed, under the fence. Rejects when the partition has another owner. */
  storePosition: (stream: StreamName, seq: number) => Promise<void>
  signal: AbortSignal
  /** Where stopped deletions are told. @default nowhere */
  holds?: HoldBoard
  /** What operators have dropped. @default nothing, and an order to drop fails */
  dropped?: DroppedMarks | undefined
  /** @default those of the settings */
  deletions?: DeletionLimits | undefined
  /** How often the patrol begins, in milliseconds. @default 10 minutes */
  patrolEveryMs?: number | undefined
}
