import type { FieldSchema } from '../schema/schema.ts'
import type { Strategy } from '../strategy/strategy.ts'
import type { Cells } from '../table/cell.ts'
import type { ScalePaths } from './definition.ts'
import type { JsonSchema } from './json-schema.ts'

/** What the server knows of one version of a custom kind, where built-in kinds have tables. */
export type CustomKind = {
  readonly schema: JsonSchema
  /** The kind as ownership of its fields is tracked. */
  readonly type: FieldSchema
  readonly strategy: Strategy
  readonly cells: Cells
  /** The status is written through its subresource only. */
  readonly hasStatus: boolean
  readonly scale: ScalePaths | undefined
  /** JSONPaths that field selectors may name. */
  readonly selectable: readonly string[]
  /** What clients of this version are told. */
  readonly warning: string | undefined
  /** The definition is being deleted: nothing new is made. */
  readonly isTerminating: boolean
  /** Differs when the published schema does. */
  readonly fingerprint: string
}
