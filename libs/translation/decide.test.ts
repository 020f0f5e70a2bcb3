import { describe, expect, test } from 'vitest'
import type { KubeObject, ObjectRef } from '#libs/kube-model'
import { parseTenantConfig } from '#libs/sync-config'
import type { Decision } from './decision.ts'
import { hostRefOf } from './names.ts'
import { decideFor, kindFor } from './registry.ts'
import { replacementMark } from './replacement.ts'
import { TENANT, deepFreeze, memoryRelated, objectOf, podOf } from './testing/index.ts'
import type { Presence, View } from './view.ts'

/*
 * The protocol as a table: what is on the tenant's side, what is on the host's, what follows. Sequences: virtual 10,
 * host 20, tombstones 5 and 6.
 */
type Row = [virtual: string, host: string, synced: boolean, expected: string[]]

const UID = 'uid-now'
const OLD_UID = 'uid-before'

const podRows: Row[] = [
  ['absent', 'absent', true, []],
  ['absent', 'copy', true, ['host delete virtualNeverSeen confirm-absent']],
  ['absent', 'copy', false, []],
  ['deleted', 'copy', false, ['host delete virtualGone tombstone 5']],
  ['deleted', 'copy of the old uid', true, ['host delete virtualNeverSeen confirm-absent']],
  ['deleted', 'copy terminating', true, []],
  ['deleted', 'foreign', true, []],
  ['absent', 'foreign', true, []],
  ['absent', 'copied by a third party', true, []],

  ['present', 'absent', true, ['host create create']],
  ['present', 'absent', false, ['host create create']],
  ['present', 'deleted', true, ['virtual delete hostGone tombstone 6 grace 0']],
  ['present', 'deleted', false, ['virtual delete hostGone tombstone 6 grace 0']],
  ['present', 'deleted, of the old uid', true, ['host create create']],
  ['started', 'absent', true, ['virtual delete hostGone confirm-absent grace 0']],
  ['started', 'absent', false, []],
  ['started', 'deleted, of the old uid', true, ['virtual delete hostGone confirm-absent grace 0']],
  ['present', 'copy', true, []],
  ['present', 'copy terminating', true, ['virtual delete hostTerminating state 20 grace 12']],
  ['present', 'copy of the old uid', true, ['host delete virtualReplaced state 10']],
  ['present', 'copy of the old uid terminating', true, []],
  ['present', 'foreign', true, ['reject ForeignObject']],
  ['present', 'copied by a third party', true, ['reject ForeignObject']],
  ['present', 'copy that names another object', true, ['reject ForeignObject']],

  ['terminating', 'absent', true, ['virtual delete virtualTerminating confirm-absent grace 0']],
  ['terminating', 'deleted', true, ['virtual delete virtualTerminating tombstone 6 grace 0']],
  ['terminating', 'deleted, of the old uid', true, ['virtual delete virtualTerminating confirm-absent grace 0']],
  ['terminating', 'copy', true, ['host delete virtualTerminating state 10 grace 30']],
  ['terminating', 'copy terminating', true, ['virtual delete hostTerminating state 20 grace 12']],
  ['terminating at once', 'copy terminating', true, ['host delete virtualTerminating state 10 grace 3']],
  ['terminating', 'copy of the old uid', true, ['host delete virtualReplaced state 10']],
  ['terminating', 'foreign', true, ['virtual delete virtualTerminating state 20 grace 0']],
  ['terminating', 'copy that names another object', true, ['virtual delete virtualTerminating state 20 grace 0']],
  ['terminating with grace 0', 'absent', true, []],

  ['excluded', 'absent', true, []],
  ['excluded', 'copy', true, ['host delete excluded state 10']],
  ['excluded', 'foreign', true, []],
  ['excluded terminating', 'absent', true, ['virtual delete virtualTerminating confirm-absent grace 0']],
]

const serviceRows: Row[] = [
  ['absent', 'absent', true, []],
  ['absent', 'copy', true, ['host delete virtualNeverSeen confirm-absent']],
  ['absent', 'copy', false, []],
  ['deleted', 'copy', true, ['host delete virtualGone tombstone 5']],
  ['deleted', 'copy terminating', true, []],
  ['present', 'absent', true, ['host create create']],
  ['present', 'deleted', true, ['host create create']],
  ['present', 'copy', true, []],
  ['present', 'copy terminating', true, []],
  // A Service keeps its copy, and with it its address, when the tenant makes it anew.
  ['present', 'copy of the old uid', true, ['host patch update']],
  ['present', 'foreign', true, ['reject ForeignObject']],
  ['present', 'copy that names another object', true, ['reject ForeignObject']],
  ['terminating', 'absent', true, []],
  ['terminating', 'copy', true, ['host delete virtualTerminating state 10']],
  ['terminating', 'copy terminating', true, []],
  ['terminating', 'foreign', true, []],
  ['excluded', 'copy', true, ['host delete excluded state 10']],

  // We deleted the tenant's object ourselves, to make it anew.
  ['deleted', 'copy being replaced', true, ['virtual replace replace']],
  ['deleted', 'copy being replaced', false, ['virtual replace replace']],
  ['absent', 'copy being replaced', true, ['virtual replace replace']],
  ['absent', 'copy being replaced', false, []],
  ['terminating', 'copy being replaced', true, ['virtual replace replace']],
  ['excluded', 'copy being replaced', true, ['host delete excluded state 10']],
  // Only a live read can tell whether our deletion is still to come.
  ['present', 'copy being replaced', true, ['virtual replace replace']],
  // It is over.
  ['present', 'copy of the old uid being replaced', true, ['host patch update']],
  // The tenant deleted the new one.
  ['deleted', 'copy of the old uid being replaced', true, ['host delete virtualNeverSeen confirm-absent']],
  ['terminating', 'copy of the old uid being replaced', true, ['host delete virtualTerminating state 10']],
]

const configRows: Row[] = [
  ['present', 'absent', true, []],
  ['present', 'copy', true, ['host delete unused state 10']],
  ['present', 'copy', false, []],
  ['present', 'foreign', true, []],
  ['used', 'absent', true, ['host create create']],
  ['used', 'copy', true, []],
  ['used', 'copy', false, []],
  ['forced', 'absent', true, ['host create create']],
  ['used, excluded', 'copy', true, ['host delete excluded state 10']],
  ['deleted', 'copy', true, ['host delete virtualGone tombstone 5']],
  ['used terminating', 'copy', true, ['host delete virtualTerminating state 10']],
]

describe('deciding about a pod', () => {
  table('pods', podOf('web'), podRows)
})

describe('deciding about a Service', () => {
  table('services', objectOf('Service', 'web', { spec: { type: 'ClusterIP' } }), serviceRows)
})

describe('deciding about a ConfigMap', () => {
  table('configmaps', objectOf('ConfigMap', 'web', { data: { a: '1' } }), configRows)
})

function table(resource: string, object: KubeObject, rows: Row[]): void {
  test.each(rows)('%s | %s | all known: %s → %j', (virtual, host, synced, expected) => {
    const view = viewOf(resource, object, { virtual, host, synced })
    expect(decideFor(view).map(summary)).toEqual(expected)
  })
}

describe('deciding', () => {
  test('waits a moment for a reference that is required and unknown, then creates the pod without it', () => {
    const spec = {
      containers: [
        {
          name: 'main',
          envFrom: [{ configMapRef: { name: 'settings' } }, { secretRef: { name: 'maybe', optional: true } }],
        },
      ],
    }
    const view = viewOf('pods', podOf('web', { spec }), { virtual: 'present', host: 'absent', synced: true })
    const missing = { resource: 'configmaps', namespace: 'default', name: 'settings' }
    expect(decideFor({ ...view, waitedMs: 0 })).toEqual([{ kind: 'wait', refs: [missing], limitMs: 1000 }])
    expect(decideFor({ ...view, waitedMs: 1000 }).map(summary)).toEqual(['host create create'])
  })

  test('names the copies of what a pod refers to as what its creation waits for', () => {
    const spec = {
      containers: [{ name: 'main' }],
      imagePullSecrets: [{ name: 'registry' }],
      volumes: [{ name: 'v', configMap: { name: 'settings' } }],
    }
    const view = viewOf('pods', podOf('web', { spec }), { virtual: 'present', host: 'absent', synced: true })
    const [decision] = decideFor({ ...view, waitedMs: 1000 })
    expect(decision).toMatchObject({
      needs: [
        { side: 'host', resource: 'configmaps', namespace: 'tenant-team-a', name: 'settings-x-default-x-team-a' },
        { side: 'host', resource: 'secrets', namespace: 'tenant-team-a', name: 'registry-x-default-x-team-a' },
      ],
    })
  })

  test('brings the status back while a pod terminates, and binds it no more', () => {
    const view = viewOf('pods', podOf('web'), { virtual: 'terminating', host: 'copy terminating', synced: true })
    const host = deepFreeze({
      ...view.host.object,
      metadata: { ...view.host.object?.metadata, deletionGracePeriodSeconds: 30 },
      spec: { nodeName: 'n1' },
      status: { phase: 'Failed', reason: 'Shutdown' },
    })
    const decisions = decideFor({ ...view, host: { object: host, seq: 20 } })
    expect(decisions.map(summary)).toEqual(['virtual patch statusBack'])
  })

  test('leaves the copy of a paused object as it is', () => {
    const view = viewOf('services', objectOf('Service', 'web', { spec: {} }), {
      virtual: 'present',
      host: 'copy',
      synced: true,
    })
    const object = {
      ...view.virtual.object,
      metadata: { ...view.virtual.object?.metadata, annotations: { 'causeway.dev/pause': 'true' } },
      spec: { type: 'NodePort' },
    }
    expect(decideFor({ ...view, virtual: { object, seq: 10 } })).toEqual([])
  })

  describe('about a Service that is made anew', () => {
    const service = objectOf('Service', 'web', { spec: { type: 'ClusterIP', clusterIP: '10.0.0.9' } })
    const view = viewOf('services', service, { virtual: 'deleted', host: 'copy being replaced', synced: true })

    test('creates what the copy has kept of it', () => {
      const [decision] = decideFor(view)
      expect(decision).toMatchObject({
        target: { side: 'virtual', resource: 'services', namespace: 'default', name: 'web' },
        write: {
          op: 'replace',
          uid: UID,
          body: { spec: { clusterIP: '10.0.0.9' } },
          copy: { name: 'web-x-default-x-team-a', uid: 'host-uid' },
        },
      })
      expect(decision).not.toHaveProperty('write.resourceVersion')
    })

    test('takes a note that cannot be read for none', () => {
      for (const mark of ['', '{', '[]', '{"uid":7}', '{"uid":"uid-now","body":{}}']) {
        const host = view.host.object
        const annotations = { ...host?.metadata.annotations, 'causeway.dev/replacement': mark }
        const object = { ...host, metadata: { ...host?.metadata, annotations } }
        expect(decideFor({ ...view, host: { object, seq: 20 } }).map(summary)).toEqual([
          'host delete virtualGone tombstone 5',
        ])
      }
    })

    test('deletes a copy in no other state than the one it looked at: it may carry a note by now', () => {
      const gone = viewOf('services', service, { virtual: 'deleted', host: 'copy', synced: true })
      const object = {
        ...gone.host.object,
        metadata: { ...gone.host.object?.metadata, resourceVersion: '41' },
      }
      expect(decideFor({ ...gone, host: { object, seq: 20 } })).toMatchObject([
        { write: { op: 'delete', uid: 'host-uid', resourceVersion: '41' } },
      ])
    })

    test('says so when its API does not accept the address of the host', () => {
      const both = viewOf('services', service, { virtual: 'present', host: 'copy', synced: true })
      const annotations = { 'causeway.dev/refused-address': '10.0.0.7' }
      const virtual = { ...both.virtual.object, metadata: { ...both.virtual.object?.metadata, annotations } }
      const host = {
        ...both.host.object,
        metadata: both.host.object?.metadata ?? {},
        spec: { type: 'ClusterIP', clusterIP: '10.0.0.7' },
      }
      const decisions = decideFor({ ...both, virtual: { object: virtual, seq: 10 }, host: { object: host, seq: 20 } })
      expect(decisions.map(summary)).toEqual(['reject Unsupported'])
    })
  })

  test('never sends default/kubernetes across', () => {
    const service = objectOf('Service', 'kubernetes', { spec: { type: 'ClusterIP' } })
    expect(decideFor(viewOf('services', service, { virtual: 'present', host: 'absent', synced: true }))).toEqual([])
  })

  test('sends what nothing uses across where the configuration says all', () => {
    const { config } = parseTenantConfig({ sync: { toHost: { configMaps: { all: true } } } })
    const view = viewOf('configmaps', objectOf('ConfigMap', 'c'), { virtual: 'present', host: 'absent', synced: true })
    expect(decideFor(view)).toEqual([])
    expect(decideFor({ ...view, tenant: { ...TENANT, config: config ?? TENANT.config } }).map(summary)).toEqual([
      'host create create',
    ])
  })

  describe('about a pod on a node of the tenant’s own', () => {
    const { config } = parseTenantConfig({ nodes: { model: 'private' } })
    const tenant = { ...TENANT, config: config ?? TENANT.config }
    const node: ObjectRef = { resource: 'nodes', namespace: '', name: 'own' }
    const object = podOf('web', { spec: { nodeName: 'own', containers: [{ name: 'main', image: 'i:1' }] } })
    const decided = (states: { virtual: string; host: string }, labels: Record<string, string> = {}): string[] => {
      const view = viewOf('pods', object, { ...states, synced: true })
      const related = memoryRelated({ virtual: [{ ref: node, object: { metadata: { name: 'own', labels } } }] })
      return decideFor({ ...view, related, tenant }).map(summary)
    }

    test('leaves its end to that node', () => {
      expect(decided({ virtual: 'terminating', host: 'absent' })).toEqual([])
      expect(decided({ virtual: 'started', host: 'absent' })).toEqual([])
    })

    test('ends it where the node is a copy of the host’s, or the pod had a copy', () => {
      const virtualNode = { 'causeway.dev/virtual-node': 'true' }
      const ended = 'virtual delete virtualTerminating'
      expect(decided({ virtual: 'terminating', host: 'absent' }, virtualNode)).toEqual([
        `${ended} confirm-absent grace 0`,
      ])
      expect(decided({ virtual: 'terminating', host: 'deleted' })).toEqual([`${ended} tombstone 6 grace 0`])
    })

    test('does not take it to have lost its copy where the tenant is shared again', () => {
      const view = viewOf('pods', object, { virtual: 'started', host: 'absent', synced: true })
      const own = memoryRelated({ synced: true, virtual: [{ ref: node, object: { metadata: { name: 'own' } } }] })
      expect(decideFor({ ...view, related: own })).toEqual([])
    })
  })

  test('has nothing to say about kinds that do not cross', () => {
    const view = viewOf('pods', podOf('web'), { virtual: 'present', host: 'absent', synced: true })
    expect(decideFor({ ...view, key: { ...view.key, resource: 'events' } })).toEqual([])
  })
})

function viewOf(
  resource: string,
  object: KubeObject,
  states: { virtual: string; host: string; synced: boolean },
): View {
  const key: ObjectRef = { resource, namespace: 'default', name: object.metadata.name ?? '' }
  const users = states.virtual.startsWith('used') ? [{ of: key, by: [{ ...key, resource: 'pods' }] }] : []
  const related = memoryRelated({ synced: states.synced, users })
  const virtual = virtualPresence(states.virtual, object)
  const original = withUid(object, UID)
  return deepFreeze({
    tenant: TENANT,
    key,
    virtual,
    host: hostPresence(states.host, { resource, original }),
    related,
    waitedMs: 0,
  })
}

function virtualPresence(state: string, object: KubeObject): Presence {
  if (state === 'absent') return { seq: 0 }
  if (state === 'deleted') return { seq: 5, gone: { uid: UID, seq: 5 } }
  const result = withUid(object, UID)
  const graces: Record<string, number> = { 'terminating at once': 3, 'terminating with grace 0': 0 }
  if (state.includes('terminating')) {
    Object.assign(result.metadata, {
      deletionTimestamp: '2026-01-01T00:00:00Z',
      deletionGracePeriodSeconds: graces[state] ?? 30,
    })
  }
  if (state === 'started') result.status = { phase: 'Running', startTime: '2026-01-01T00:00:00Z' }
  if (state.includes('excluded')) result.metadata.annotations = { 'causeway.dev/sync': 'false' }
  if (state === 'forced') result.metadata.annotations = { 'causeway.dev/sync': 'true' }
  return { seq: 10, object: result }
}

function hostPresence(state: string, { resource, original }: { resource: string; original: KubeObject }): Presence {
  if (state === 'absent') return { seq: 0 }
  if (state === 'deleted') return { seq: 6, gone: { uid: 'host-uid', seq: 6, virtualUid: UID } }
  if (state === 'deleted, of the old uid') return { seq: 6, gone: { uid: 'host-uid', seq: 6, virtualUid: OLD_UID } }
  const of = state.includes('old uid') ? withUid(original, OLD_UID) : original
  const copy = kindFor(resource)?.toHost({ virtual: of, tenant: TENANT, related: memoryRelated() })
  if (copy?.kind !== 'object') throw new Error('no copy')
  const object = withUid(copy.object, 'host-uid')
  if (resource === 'pods') object.status = { phase: 'Pending' }
  const { metadata } = object
  if (state.includes('terminating')) {
    Object.assign(metadata, { deletionTimestamp: '2026-01-01T00:00:00Z', deletionGracePeriodSeconds: 12 })
  }
  if (state.includes('being replaced')) {
    const mark = replacementMark({ uid: of.metadata.uid ?? '', body: original })
    metadata.annotations = { ...metadata.annotations, 'causeway.dev/replacement': mark }
  }
  if (state === 'foreign')
    object.metadata = { name: metadata.name ?? '', namespace: TENANT.hostNamespace, uid: 'host-uid' }
  if (state === 'copied by a third party') {
    metadata.annotations = { ...metadata.annotations, 'causeway.dev/host-name': 'elsewhere/original' }
  }
  if (state === 'copy that names another object')
    metadata.annotations = { ...metadata.annotations, 'causeway.dev/name': 'other' }
  return { seq: 20, object }
}

function withUid(object: KubeObject, uid: string): KubeObject {
  return { ...object, metadata: { ...object.metadata, uid } }
}

function summary(decision: Decision): string {
  if (decision.kind === 'reject') return `reject ${decision.reason}`
  if (decision.kind === 'wait') return 'wait'
  const { target, write, rule } = decision
  if (write.op !== 'delete') return `${target.side} ${write.op} ${rule}`
  const { proof, gracePeriodSeconds } = write
  const seq = proof.kind === 'confirm-absent' ? '' : ` ${String(proof.seq)}`
  const grace = gracePeriodSeconds === undefined ? '' : ` grace ${String(gracePeriodSeconds)}`
  return `${target.side} delete ${rule} ${proof.kind}${seq}${grace}`
}

describe('a copy whose stamps somebody has changed', () => {
  const HOST = 'host-uid'
  const made = { uid: HOST, virtualUid: UID }
  type Metadata = KubeObject['metadata']
  const damages: [string, (metadata: Metadata) => Metadata, object][] = [
    ['name edited', annotated('name', 'other'), { annotations: { 'causeway.dev/name': 'web' } }],
    [
      'namespace edited',
      annotated('namespace', 'kube-system'),
      { annotations: { 'causeway.dev/namespace': 'default' } },
    ],
    [
      'host name edited',
      annotated('host-name', 'a/b'),
      { annotations: { 'causeway.dev/host-name': expect.any(String) } },
    ],
    [
      'resource removed',
      annotated('resource', undefined),
      { annotations: { 'causeway.dev/resource': expect.any(String) } },
    ],
    ['all annotations removed', ({ annotations: _, ...metadata }) => metadata, { annotations: expect.any(Object) }],
    ['all labels removed', ({ labels: _, ...metadata }) => metadata, { labels: { 'causeway.dev/tenant': 'team-a' } }],
    [
      'label of another tenant',
      (metadata) => ({ ...metadata, labels: { ...metadata.labels, 'causeway.dev/tenant': 'team-b' } }),
      { labels: { 'causeway.dev/tenant': 'team-a' } },
    ],
  ]
  const damaged = (
    resource: string,
    states: { virtual: string; host: string },
    damage: (of: Metadata) => Metadata,
  ): View => {
    const object = resource === 'pods' ? podOf('web') : objectOf('Service', 'web', { spec: { type: 'ClusterIP' } })
    const view = viewOf(resource, object, { ...states, synced: true })
    const host = view.host.object
    if (host === undefined) throw new Error('there is no copy')
    return {
      ...view,
      host: { seq: 20, object: { ...host, metadata: { ...damage(host.metadata), resourceVersion: '41' } } },
    }
  }

  describe.each(['pods', 'services'])('of %s', (resource) => {
    test.each(damages)('%s: gets them back where it is known to be ours', (_, damage, metadata) => {
      for (const virtual of ['present', 'terminating', 'deleted', 'absent', 'excluded']) {
        expect(decideFor({ ...damaged(resource, { virtual, host: 'copy' }, damage), made })).toMatchObject([
          {
            target: { side: 'host', name: 'web-x-default-x-team-a' },
            rule: 'restamped',
            write: { op: 'patch', uid: HOST, resourceVersion: '41', body: { metadata } },
          },
        ])
      }
    })

    test.each(damages)('%s: is left alone where it is not', (_, damage) => {
      for (const known of [undefined, { ...made, uid: 'another' }]) {
        const view = damaged(resource, { virtual: 'present', host: 'copy' }, damage)
        const decisions = decideFor(known === undefined ? view : { ...view, made: known })
        expect(decisions).toMatchObject([{ kind: 'reject', reason: 'ForeignObject' }])
        const gone = damaged(resource, { virtual: 'deleted', host: 'copy' }, damage)
        expect(decideFor(known === undefined ? gone : { ...gone, made: known })).toEqual([])
      }
    })
  })

  test.each(['other', undefined])('uid %s: a pod’s copy gets it back, and neither of the two ends', (uid) => {
    const view = damaged('pods', { virtual: 'started', host: 'copy' }, annotated('uid', uid))
    expect(decideFor({ ...view, made }).map(summary)).toEqual(['host patch restamped'])
  })

  test('that is whole gives no decision', () => {
    const whole = (metadata: Metadata): Metadata => metadata
    expect(decideFor({ ...damaged('pods', { virtual: 'present', host: 'copy' }, whole), made })).toEqual([])
    const old = damaged('services', { virtual: 'present', host: 'copy of the old uid' }, whole)
    expect(decideFor({ ...old, made: { uid: HOST, virtualUid: OLD_UID } }).map(summary)).toEqual(['host patch update'])
  })

  function annotated(stamp: string, value: string | undefined): (metadata: Metadata) => Metadata {
    return (metadata) => {
      const { [`causeway.dev/${stamp}`]: _, ...others } = metadata.annotations ?? {}
      const annotations = value === undefined ? others : { ...others, [`causeway.dev/${stamp}`]: value }
      return { ...metadata, annotations }
    }
  }
})

describe('where each namespace of the tenant has one of its own on the host', () => {
  const contextOf = (namespaces: object): typeof TENANT => {
    const { config } = parseTenantConfig({ sync: { toHost: { namespaces: { enabled: true, ...namespaces } } } })
    if (config === undefined) throw new Error('the configuration is refused')
    return { ...TENANT, config }
  }
  const decideIn = (tenant: typeof TENANT, key: ObjectRef, sides: { virtual: Presence; host: Presence }) =>
    decideFor(deepFreeze({ tenant, key, ...sides, related: memoryRelated(), waitedMs: 0 }))
  const ns: ObjectRef = { resource: 'namespaces', namespace: '', name: 'shop' }
  const pod: ObjectRef = { resource: 'pods', namespace: 'shop', name: 'web' }
  const namespace = (metadata: object = {}): KubeObject => ({
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: 'shop', uid: UID, ...metadata },
  })
  const place = hostRefOf(ns, contextOf({})).name
  const copy = (): KubeObject => {
    const made = kindFor('namespaces')?.toHost({
      virtual: namespace(),
      tenant: contextOf({}),
      related: memoryRelated(),
    })
    if (made?.kind !== 'object') throw new Error('there is no copy')
    return { ...made.object, metadata: { ...made.object.metadata, uid: 'host-uid' } }
  }

  test('a pod needs the namespace that it is to be in', () => {
    const virtual = { object: { ...podOf('web', { namespace: 'shop' }) }, seq: 10 }
    const [decision] = decideIn(contextOf({}), pod, { virtual, host: { seq: 0 } })
    expect(decision).toMatchObject({ kind: 'write', target: { namespace: place } })
    expect(decision?.kind === 'write' && decision.needs).toContainEqual({ side: 'host', ...ns, name: place })
  })

  test('only what a mapping names crosses with mappingsOnly', () => {
    const only = contextOf({ mappingsOnly: true, mappings: { byName: { 's*': 'team-*' } } })
    const virtual = { object: podOf('web', { namespace: 'shop' }), seq: 10 }
    expect(decideIn(only, pod, { virtual, host: { seq: 0 } })).toMatchObject([{ target: { namespace: 'team-hop' } }])
    const elsewhere = { object: podOf('web', { namespace: 'other' }), seq: 10 }
    expect(decideIn(only, { ...pod, namespace: 'other' }, { virtual: elsewhere, host: { seq: 0 } })).toEqual([])
    const unnamed = { object: namespace({ name: 'other' }), seq: 10 }
    expect(decideIn(only, { ...ns, name: 'other' }, { virtual: unnamed, host: { seq: 0 } })).toEqual([])
  })

  test('the host namespace stays while the tenant’s is on its way out, and goes with it', () => {
    const host = { object: copy(), seq: 20 }
    const going = { object: namespace({ deletionTimestamp: '2026-01-01T00:00:00Z' }), seq: 10 }
    expect(decideIn(contextOf({}), ns, { virtual: going, host })).toEqual([])
    const gone = { gone: { uid: UID, seq: 5 }, seq: 5 }
    expect(decideIn(contextOf({}), ns, { virtual: gone, host })).toMatchObject([
      { target: { side: 'host', name: place }, write: { op: 'delete', proof: { kind: 'tombstone', seq: 5 } } },
    ])
  })

  test('a host namespace that is not ours is not touched', () => {
    const foreign = { object: { ...copy(), metadata: { name: place, uid: 'host-uid' } }, seq: 20 }
    const virtual = { object: namespace(), seq: 10 }
    expect(decideIn(contextOf({}), ns, { virtual, host: foreign })).toMatchObject([
      { kind: 'reject', reason: 'ForeignObject' },
    ])
    expect(decideIn(contextOf({}), ns, { virtual: { gone: { uid: UID, seq: 5 }, seq: 5 }, host: foreign })).toEqual([])
  })

  test('a host namespace that stands for another of the tenant’s is in the way', () => {
    const mapped = contextOf({ mappings: { byName: { shop: 'data-1', 'db-*': 'data-*' } } })
    const made = kindFor('namespaces')?.toHost({
      virtual: namespace({ name: 'db-1' }),
      tenant: mapped,
      related: memoryRelated(),
    })
    if (made?.kind !== 'object') throw new Error('there is no copy')
    const virtual = { object: namespace(), seq: 10 }
    expect(decideIn(mapped, ns, { virtual, host: { object: made.object, seq: 20 } })).toMatchObject([
      { kind: 'reject', reason: 'NameConflict' },
    ])
  })

  test('off, namespaces do not cross', () => {
    expect(decideIn(TENANT, ns, { virtual: { object: namespace(), seq: 10 }, host: { seq: 0 } })).toEqual([])
  })
})
