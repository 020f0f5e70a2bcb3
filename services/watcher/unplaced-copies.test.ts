import { beforeEach, describe, expect, test } from 'vitest'
import type { KubeObject } from '#libs/kube-model'
import { hostName } from '#libs/translation'
import { UnplacedCopies } from './unplaced-copies.ts'

const tenants = new Set(['team-a', 'team-b'])
const entry = (name: string) => ({ name, uid: 'u', hostNamespace: `ns-${name}`, kubeconfig: '' })
const directory = { tenant: (name: string) => (tenants.has(name) ? entry(name) : undefined) }
const nameOf = (name: string, tenant = 'team-a'): string => hostName({ namespace: '', name }, tenant)
const about = (involvedObject: object): KubeObject =>
  ({ metadata: { namespace: 'default', name: 'e.1' }, involvedObject }) as KubeObject

let copies: UnplacedCopies
beforeEach(() => {
  copies = new UnplacedCopies(directory)
})

describe('what the host says of a copy without namespace', () => {
  test('is for the tenant that stands in its name, seen or not', () => {
    expect(copies.tenantOf(about({ kind: 'PersistentVolume', name: nameOf('disk') }))).toBe('team-a')
  })

  test('is for the tenant whose copy was seen under the name, where the name does not say', () => {
    const name = nameOf('d'.repeat(60))
    expect(copies.tenantOf(about({ name }))).toBeUndefined()
    copies.note('team-b', name)
    expect(copies.tenantOf(about({ name, namespace: '' }))).toBe('team-b')
    tenants.delete('team-b')
    expect(copies.tenantOf(about({ name }))).toBeUndefined()
    tenants.add('team-b')
  })

  test('is nobody’s where it is about something else', () => {
    copies.note('team-a', nameOf('disk'))
    expect(copies.tenantOf(about({ name: nameOf('disk'), namespace: 'default' }))).toBeUndefined()
    expect(copies.tenantOf(about({ name: 'worker-1' }))).toBeUndefined()
    expect(copies.tenantOf(about({ name: nameOf('disk', 'stranger') }))).toBeUndefined()
    expect(copies.tenantOf({ metadata: { name: 'e.1' } })).toBeUndefined()
  })
})

test('no more names are remembered than there is room for: the oldest go', () => {
  const first = nameOf('f'.repeat(60))
  copies.note('team-a', first)
  for (let at = 0; at < 20_000; at++) copies.note('team-a', `copy-${String(at)}`)
  expect(copies.tenantOf(about({ name: first }))).toBeUndefined()
  expect(copies.tenantOf(about({ name: 'copy-0' }))).toBe('team-a')
})
