import { z } from 'zod'
import { FOREIGN_KEYS } from './foreign-keys.ts'
import { tenantConfigSchema } from './schema.ts'

type Properties = Record<string, { properties?: Properties; description?: string; deprecated?: boolean }>

/**
 * The JSON Schema of a tenant's configuration as it is written, for editors. Keys that only a `vcluster.yaml` has are in
 * it as deprecated, so that such a file is accepted where `parseTenantConfig` accepts it.
 */
export function tenantConfigJsonSchema(): Record<string, unknown> {
  const schema: Record<string, unknown> = z.toJSONSchema(tenantConfigSchema, { io: 'input' })
  const byLength = [...FOREIGN_KEYS].sort((a, b) => a.path.length - b.path.length)
  for (const { path, refused } of byLength) {
    let node: { properties?: Properties } | undefined = schema
    for (const key of path.slice(0, -1)) node = node?.properties?.[key]
    const key = path.at(-1)
    if (node?.properties === undefined || key === undefined) continue
    const description = refused === undefined ? 'Has no meaning here' : `Not supported: ${refused.instead}`
    node.properties[key] = { description, deprecated: true }
  }
  return { ...schema, title: 'Causeway tenant configuration' }
}
