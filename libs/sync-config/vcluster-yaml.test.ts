import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parse, stringify } from 'yaml'
import { jsonEqual } from '#libs/kernel'
import { defaultTenantConfig, parseTenantConfig } from './index.ts'

/*
 * A case is a folder with a vcluster.yaml and expected.yaml: what is wrong with it, what is ignored, and what of the
 * resolved configuration is not as by default. `npm run golden:update` rewrites expected.yaml.
 */
const fixtures = join(import.meta.dirname, 'fixtures')

test.each(readdirSync(fixtures))('reads the vcluster.yaml of %s as its golden file has it', async (name) => {
  const given: unknown = parse(readFileSync(join(fixtures, name, 'vcluster.yaml'), 'utf8'))
  const { config, problems, ignored } = parseTenantConfig(given)
  const output = {
    problems: problems.map(({ path, message }) => `${path}: ${message}`),
    ignored,
    ...(config === undefined ? {} : { config: differing(config, defaultTenantConfig()) }),
  }
  await expect(stringify(output, { lineWidth: 120 })).toMatchFileSnapshot(join(fixtures, name, 'expected.yaml'))
})

/** The parts of `value` that are not the same in `other`. */
function differing(value: unknown, other: unknown): unknown {
  if (!isMapping(value) || !isMapping(other)) return value
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, part]) =>
      jsonEqual(part, other[key]) ? [] : [[key, differing(part, other[key])]],
    ),
  )
}

function isMapping(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
