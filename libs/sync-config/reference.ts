import type { z } from 'zod'
import { globalRegistry } from 'zod'
import { FOREIGN_KEYS } from './foreign-keys.ts'
import { tenantConfigSchema } from './schema.ts'
import { childrenOf, unwrap } from './schema-tree.ts'

type Schema = z.core.$ZodType
type Meta = { description?: string | undefined; examples?: unknown[] | undefined; id?: string | undefined }

/** The reference of all keys, in Markdown: one table for each section, and one for each shape that many keys share. */
export function renderReference(): string {
  const shared = new Map<string, Schema>()
  const sections: [title: string, rows: string[]][] = []
  const single: string[] = []
  for (const [key, schema] of childrenOf(tenantConfigSchema)) {
    if (key === 'sync') {
      for (const [direction, kinds] of childrenOf(schema)) {
        sections.push([`\`sync.${direction}\``, rowsBelow(kinds, '', shared)])
      }
    } else if (isList(schema) || childrenOf(schema).length === 0) single.push(...row(key, schema, shared))
    else sections.push([`\`${key}\``, rowsBelow(schema, '', shared)])
  }
  sections.push(['Other keys', single])
  for (const [name, schema] of shared) sections.push([name, rowsBelow(schema, '', new Map())])
  const tables = sections.map(([title, rows]) => `### ${title}\n\n${table(COLUMNS, rows)}`)
  return [...tables, `### Keys of a \`vcluster.yaml\`\n\n${foreignTable()}`].join('\n\n')
}

const COLUMNS = ['Key', 'Type', 'Default', 'Meaning', 'Example']

function rowsBelow(schema: Schema, prefix: string, shared: Map<string, Schema>): string[] {
  return childrenOf(schema).flatMap(([key, child]) => {
    // All kinds have them; the text around the table says so.
    if (metaOf(child).id === 'Patches') return remember(child, shared)
    const path = nested(schema, prefix, key)
    const inner = metaOf(child).id === undefined ? rowsBelow(child, path, shared) : []
    // A mapping without a value of its own is explained by its keys.
    return inner.length > 0 && isPlainGroup(child) ? inner : [...row(path, child, shared), ...inner]
  })
}

function nested(schema: Schema, prefix: string, key: string): string {
  if (isList(schema)) return `${prefix}[]`
  const name = key === '*' ? '<name>' : key
  return prefix === '' ? name : `${prefix}.${name}`
}

/** Nothing for what only repeats the row before it, such as the texts of a list of texts. */
function row(path: string, schema: Schema, shared: Map<string, Schema>): string[] {
  const { description, examples = [], id } = metaOf(schema)
  remember(schema, shared)
  if (description === undefined) return []
  const type = id === undefined ? typeOf(schema) : `[${id}](#${id.toLowerCase()})`
  const example = examples[0] === undefined ? '' : code(examples[0])
  const cells = [`\`${path}\``, type, id === undefined ? defaultOf(schema) : '', description, example]
  return [cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')]
}

function remember(schema: Schema, shared: Map<string, Schema>): [] {
  const { id } = metaOf(schema)
  if (id !== undefined) shared.set(id, schema)
  return []
}

function metaOf(schema: Schema): Meta {
  const { def } = schema._zod as { def: z.core.$ZodTypeDef & { innerType?: Schema } }
  const meta = globalRegistry.get(schema) as Meta | undefined
  return meta ?? (def.innerType === undefined ? {} : metaOf(def.innerType))
}

function isList(schema: Schema): boolean {
  return unwrap(schema)._zod.def.type === 'array'
}

/** A group of keys that is there whatever is given. */
function isPlainGroup(schema: Schema): boolean {
  return schema._zod.def.type === 'prefault'
}

function typeOf(schema: Schema): string {
  const { def } = unwrap(schema)._zod as {
    def: z.core.$ZodTypeDef & { entries?: Record<string, string>; valueType?: Schema; element?: Schema; check?: string }
  }
  if (def.entries !== undefined) return Object.keys(def.entries).join(', ')
  if (def.type === 'record') return def.valueType === undefined ? 'map' : `map of ${typeOf(def.valueType)}`
  if (def.type === 'array') return def.element === undefined ? 'list' : `list of ${typeOf(def.element)}`
  if (def.type === 'union') return 'true, false, auto'
  return TYPES[def.type] ?? def.type
}

const TYPES: Readonly<Record<string, string>> = {
  boolean: 'true, false',
  string: 'text',
  number: 'whole number',
  object: 'keys',
}

function defaultOf(schema: Schema): string {
  const { def } = schema._zod as { def: z.core.$ZodTypeDef & { defaultValue?: unknown } }
  if (def.type !== 'default') return schema._zod.optin === 'optional' ? '' : 'required'
  return code(def.defaultValue)
}

function code(value: unknown): string {
  return `\`${typeof value === 'string' && value !== '' ? value : JSON.stringify(value)}\``
}

function table(columns: readonly string[], rows: readonly string[]): string {
  return [columns.join(' | '), columns.map(() => '---').join(' | '), ...rows].map((line) => `| ${line} |`).join('\n')
}

function foreignTable(): string {
  const rows = FOREIGN_KEYS.map(({ path, refused }) =>
    [`\`${path.join('.')}\``, refused === undefined ? 'ignored' : 'refused when on', refused?.instead ?? ''].join(
      ' | ',
    ),
  )
  return table(['Key', 'Here', 'Because, or instead'], rows)
}
