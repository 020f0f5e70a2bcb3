import type { OwnerReference } from '#libs/kube-model'
import { expect, it } from 'vitest'
import { FOREGROUND, ORPHAN, decideByOwners } from './garbage-collector.ts'
import type { OwnerDecision, OwnerStates } from './garbage-collector.ts'

const owner = (uid: string): OwnerReference => ({ apiVersion: 'v1', kind: 'ConfigMap', name: uid, uid })
const states = (solid: string[], dangling: string[], waiting: string[]): OwnerStates => ({
  solid: solid.map(owner),
  dangling: dangling.map(owner),
  waiting: waiting.map(owner),
})
const plain = { finalizers: [], hasDependents: false }

it.each<[string, OwnerStates, Parameters<typeof decideByOwners>[1], OwnerDecision]>([
  ['stays while an owner exists', states(['a'], [], []), plain, { kind: 'keep' }],
  ['stays without owners', states([], [], []), plain, { kind: 'keep' }],
  [
    'drops references to gone owners',
    states(['a'], ['b'], ['c']),
    plain,
    { kind: 'drop-references', uids: ['b', 'c'] },
  ],
  ['goes with its last owner', states([], ['a'], []), plain, { kind: 'delete', policy: 'Background' }],
  ['goes before an owner that waits', states([], [], ['a']), plain, { kind: 'delete', policy: 'Background' }],
  [
    'waits for its own dependents when its owner waits for it',
    states([], [], ['a']),
    { finalizers: [], hasDependents: true },
    { kind: 'delete', policy: 'Foreground' },
  ],
  [
    'keeps the way of deletion its finalizers ask for',
    states([], ['a'], []),
    { finalizers: [ORPHAN], hasDependents: true },
    { kind: 'delete', policy: 'Orphan' },
  ],
  [
    'keeps foreground deletion',
    states([], ['a'], []),
    { finalizers: [FOREGROUND], hasDependents: false },
    { kind: 'delete', policy: 'Foreground' },
  ],
])('an object %s', (_title, ownerStates, object, expected) => {
  expect(decideByOwners(ownerStates, object)).toEqual(expected)
})
