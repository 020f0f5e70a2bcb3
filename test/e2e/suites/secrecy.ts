import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { configMapOf, isRunning, podOf, secretOf, unique } from '../../harness/objects.ts'
import type { World } from '../../harness/world.ts'

export function secrecyTests(current: () => World): void {
  test('values of Secrets are in the two APIs and in no file of Causeway', async () => {
    const { host, tenants, up } = current()
    const tenant = tenants[0]
    const namespace = await tenant.namespace()
    const ref = { namespace, name: 'login' }
    const values = [unique('first-password'), unique('second-password')] as const
    const open = unique('not-a-secret')
    await tenant.cluster.create(secretOf(namespace, 'login', { password: values[0] }))
    await tenant.cluster.create(configMapOf(namespace, 'settings', { open }))
    await tenant.cluster.create(podOf(namespace, 'web', { secret: 'login', configMap: 'settings' }))
    await tenant.cluster.until('pods', { namespace, name: 'web' }, isRunning)
    const changed = Buffer.from(values[1]).toString('base64')
    await tenant.cluster.patch('secrets', ref, { data: { password: changed } })
    const copy = tenant.copyOf(ref)
    await host.until('secrets', copy, ({ data }) => (data as { password: string }).password === changed)

    const files = filesBelow(up.data).filter((path) => !path.startsWith(join(up.data, 'apiserver')))
    const holding = (text: string): string[] => files.filter((path) => readFileSync(path).includes(text))
    // What is no secret is found, so the search can find.
    await expect.poll(() => holding(open).length).toBeGreaterThan(0)
    for (const value of values) {
      expect(holding(value)).toEqual([])
      expect(holding(Buffer.from(value).toString('base64'))).toEqual([])
    }
  })
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
}
