import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { renderReference, tenantConfigJsonSchema } from './index.ts'

// `npm run docs:config` rewrites both files.
const docs = join(import.meta.dirname, '..', '..', 'docs')
const MARKER = '<!-- What follows is written by `npm run docs:config`. -->\n'

test('the reference table is that of the schema', async () => {
  const path = join(docs, 'configuration.md')
  const [written = ''] = readFileSync(path, 'utf8').split(MARKER)
  await expect(`${written}${MARKER}\n${renderReference()}\n`).toMatchFileSnapshot(path)
})

test('the published JSON Schema is that of the schema', async () => {
  const text = `${JSON.stringify(tenantConfigJsonSchema(), null, 2)}\n`
  await expect(text).toMatchFileSnapshot(join(docs, 'schema', 'tenant-config.schema.json'))
})
