import { expect, test } from 'vitest'
import type { KubeObject, ObjectKey } from '#libs/kube-model'
import { hostOwnership } from './ownership.ts'

const target: ObjectKey = { tenant: 'team-a', side: 'host', resource: 'namespaces', namespace: '', name: 'data-1' }
const place = (of: string, changes: Record<string, string> = {}): KubeObject => ({
  metadata: {
    name: 'data-1',
    labels: { 'causeway.dev/tenant': 'team-a' },
    annotations: {
      'causeway.dev/host-name': '/data-1',
      'causeway.dev/name': of,
      'causeway.dev/resource': 'namespaces',
      'causeway.dev/uid': `uid-of-${of}`,
      ...changes,
    },
  },
})

test.each([
  ['same', place('shop')],
  ['earlier', place('shop', { 'causeway.dev/uid': 'before' })],
  // Mappings may give two namespaces of the tenant one name.
  ['other-tuple', place('db-1')],
  ['foreign', place('shop', { 'causeway.dev/host-name': '/elsewhere' })],
  ['foreign', { metadata: { name: 'data-1' } }],
])('a host namespace is told to be: %s', (ownership, live) => {
  expect(hostOwnership(live, { target }, place('shop'))).toBe(ownership)
})
