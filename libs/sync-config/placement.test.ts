import { expect, test } from 'vitest'
import { parseTenantConfig } from './parse.ts'
import { placementProblem } from './placement.ts'

const on = { enabled: true }
const mapped = { enabled: true, mappings: { byName: { a: 'one' } } }

test.each([
  ['off', {}, {}, undefined],
  ['switched on', {}, on, 'sync.toHost.namespaces.enabled'],
  ['switched off', on, {}, 'sync.toHost.namespaces.enabled'],
  ['mapped', on, mapped, 'sync.toHost.namespaces.mappings.byName'],
  ['mapped as before', mapped, { ...mapped, extraLabels: { a: 'b' } }, undefined],
  ['mapped while off', {}, { mappings: { byName: { a: 'one' } } }, undefined],
])('own host namespaces %s', (_, before, after, expected) => {
  const [was, is] = [before, after].map((namespaces) => parseTenantConfig({ sync: { toHost: { namespaces } } }).config)
  if (was === undefined || is === undefined) throw new Error('the configuration is refused')
  expect(placementProblem(was, is)?.split(':')[0]).toBe(expected)
})
