import type { z } from 'zod'
import { tenantConfigSchema } from './schema.ts'

/** A key of the configuration, as documentation and suggestions need it. */
export type SchemaNode = {
  /** Keys on the way; `*` stands for any key of a map or index of a list. */
  path: readonly string[]
  schema: z.core.$ZodType
  optional: boolean
}

/** The schema inside of defaults and options. */
export function unwrap(schema: z.core.$ZodType): z.core.$ZodType {
  const { def } = schema._zod as { def: z.core.$ZodTypeDef & { innerType?: z.core.$ZodType } }
  return def.innerType === undefined ? schema : unwrap(def.innerType)
}

/** Keys below a schema: those of an object, or `*` for a map's or list's inner schema. */
export function childrenOf(schema: z.core.$ZodType): [string, z.core.$ZodType][] {
  const { def } = unwrap(schema)._zod as {
    def: z.core.$ZodTypeDef & {
      shape?: Record<string, z.core.$ZodType>
      valueType?: z.core.$ZodType
      element?: z.core.$ZodType
    }
  }
  if (def.shape !== undefined) return Object.entries(def.shape)
  const inner = def.valueType ?? def.element
  return inner === undefined ? [] : [['*', inner]]
}

/** The schema at a path of the configuration, `undefined` where there is no such key. */
export function schemaAt(path: readonly PropertyKey[]): z.core.$ZodType | undefined {
  let schema: z.core.$ZodType = tenantConfigSchema
  for (const part of path) {
    const children = childrenOf(schema)
    const next = children.find(([key]) => key === part || key === '*')?.[1]
    if (next === undefined) return undefined
    schema = next
  }
  return schema
}

/** Every key of the configuration, in the order of the schema. */
export function* walkSchema(
  schema: z.core.$ZodType = tenantConfigSchema,
  path: readonly string[] = [],
): Generator<SchemaNode> {
  for (const [key, child] of childrenOf(schema)) {
    const at = [...path, key]
    yield { path: at, schema: child, optional: child._zod.optin === 'optional' }
    yield* walkSchema(child, at)
  }
}
