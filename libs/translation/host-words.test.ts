import { expect, test } from 'vitest'
import { withoutHostNames } from './host-words.ts'

const names = new Map([
  ['tenant-team-a', 'default'],
  ['web-x-default-x-team-a', 'web'],
])
const told = (text: string) =>
  withoutHostNames(text, { names, tenant: 'team-a', isHidden: (word) => word === 'worker-7' })

test.each([
  ['tenant-team-a/web-x-default-x-team-a is there.', 'default/web is there.'],
  ['secret "db-x-data-x-team-a" and class causeway-fast-x-team-a', 'secret "db" and class fast'],
  ['pod tenant-team-a/db-x-data-x-team-a', 'pod data/db'],
  ['claim web-x-default-x-team-a-scratch', 'claim web-scratch'],
  ['already in ingress tenant-team-b/web-x-default-x-team-b.', 'already in ingress (hidden).'],
  ['object "tenant-team-b"/"db-x-default-x-team-b" not found', 'object "(hidden)" not found'],
  [`name ${'a'.repeat(52)}-0123456789 is taken`, 'name (hidden) is taken'],
  [
    'Preempted by pod 0a1b2c3d-1111-2222-3333-444455556666 on node worker-7',
    'Preempted by pod (hidden) on node (hidden)',
  ],
  [
    'volume pvc-0a1b2c3d-1111-2222-3333-444455556666 of 10.0.0.1:8080',
    'volume pvc-0a1b2c3d-1111-2222-3333-444455556666 of 10.0.0.1:8080',
  ],
  ['image "example.com/causeway-demo:1.2"', 'image "example.com/causeway-demo:1.2"'],
])('%s', (text, expected) => {
  expect(told(text)).toBe(expected)
})

test.each(['m', '.', '-', '"', 'a.', 'a/', '"a"/', '-x-', 'a-x-b-x-'])(
  'takes no longer for many of %s than their number',
  (part) => {
    const text = part.repeat(300_000)
    expect(told(text).length).toBeLessThanOrEqual(text.length)
  },
  10_000,
)
