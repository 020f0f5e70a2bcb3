import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { EnvelopeError, encodePayload } from '#libs/events'
import type { KubeObject, ObjectKey, ObjectRef } from '#libs/kube-model'
import { decideFor } from '#libs/translation'
import { TENANT, objectOf, podOf } from '#libs/translation/testing'
import { createVault } from '#libs/vault'
import { Projection } from './projection.ts'
import { LogOfChanges } from './testing/index.ts'

const TEAM = TENANT.name
const vault = createVault({ active: 'k1', keys: new Map([['k1', Buffer.alloc(32, 7)]]) })

let folder: string
let path: string
let log: LogOfChanges
let projection: Projection
let known: Set<string>

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'causeway-projection-'))
  path = join(folder, 'p.sqlite')
  log = new LogOfChanges()
  known = new Set([TEAM])
  projection = open()
})

afterEach(() => {
  projection.close()
  rmSync(folder, { recursive: true })
})

function open(): Projection {
  return new Projection({
    path,
    vault,
    hostNamespaceOf: (tenant) => (known.has(tenant) ? TENANT.hostNamespace : undefined),
  })
}

function reopen(): void {
  projection.close()
  projection = open()
}

const ref = (resource: string, name: string, namespace = 'default'): ObjectRef => ({ resource, namespace, name })
const virtualKey = (of: ObjectRef, tenant = TEAM): ObjectKey => ({ tenant, side: 'virtual', ...of })
const withUid = (object: KubeObject, uid: string): KubeObject => ({ ...object, metadata: { ...object.metadata, uid } })
const shown = (keys: { ref: ObjectRef }[]): string[] =>
  keys.map((key) => `${key.ref.resource}/${key.ref.name}`).toSorted()

const web = ref('pods', 'web')
const cfg = ref('configmaps', 'cfg')
const webPod = withUid(podOf('web'), 'v-web')
const webWithConfig = withUid(
  podOf('web', { spec: { containers: [{ name: 'main', image: 'x', envFrom: [{ configMapRef: { name: 'cfg' } }] }] } }),
  'v-web',
)
const config = withUid(objectOf('ConfigMap', 'cfg', { data: { a: '1' } }), 'v-cfg')

function fold(type: 'ADDED' | 'MODIFIED' | 'DELETED', key: ObjectKey, object: KubeObject): string[] {
  return shown(projection.fold(log.change(type, key, object)).keys)
}

/** The host copy that the translation asks for, as the host would hold it. */
function copyOf(of: ObjectRef, uid: string): { key: ObjectKey; object: KubeObject } {
  const create = decideFor(projection.view(TENANT, of, 60_000)).find(
    (decision) => decision.kind === 'write' && decision.write.op === 'create',
  )
  if (create?.kind !== 'write' || create.write.op !== 'create') throw new Error(`no create for ${of.name}`)
  const { metadata } = create.write.body
  const namespace = TENANT.hostNamespace
  return {
    key: { tenant: TEAM, ...create.target },
    object: { ...create.write.body, metadata: { ...metadata, namespace, uid } },
  }
}

describe('folding a tenant’s object in', () => {
  test('makes it and what it refers to due for a decision', () => {
    expect(fold('ADDED', virtualKey(web), webWithConfig)).toEqual(['configmaps/cfg', 'pods/web'])
    expect(fold('MODIFIED', virtualKey(web), webWithConfig)).toEqual(['pods/web'])
    expect(fold('MODIFIED', virtualKey(web), webPod)).toEqual(['configmaps/cfg', 'pods/web'])
  })

  test('wakes those that wait for it, and nobody else', () => {
    fold('ADDED', virtualKey(web), webWithConfig)
    expect(fold('ADDED', virtualKey(cfg), config)).toEqual(['configmaps/cfg'])
    fold('DELETED', virtualKey(cfg), config)
    const waiting = { slot: 'wait', intentId: '', digest: '', attempt: 0, carriesBase: false, since: 0 } as const
    projection.pending.put({ tenant: TEAM, ref: web }, { ...waiting, state: 'waiting' })
    expect(fold('ADDED', virtualKey(cfg), config)).toEqual(['configmaps/cfg', 'pods/web'])
  })

  test('wakes what is parked for a reason that it may end', () => {
    const rejected = { slot: 'reject', intentId: '', digest: '', attempt: 0, carriesBase: false, since: 0 } as const
    fold('ADDED', virtualKey(web), webPod)
    projection.pending.put({ tenant: TEAM, ref: web }, { ...rejected, state: 'parked', reason: 'UnknownClass' })
    const ref = { resource: 'priorityclasses.scheduling.k8s.io', namespace: '', name: 'high' }
    const high = withUid({ ...objectOf('PriorityClass', 'high'), metadata: { name: 'high' } }, 'v-high')
    expect(fold('ADDED', virtualKey(ref), high)).toContain('pods/web')
    expect(fold('MODIFIED', virtualKey(ref), high)).not.toContain('pods/web')
    expect(fold('DELETED', virtualKey(ref), high)).not.toContain('pods/web')
  })

  test('leaves a tombstone when it is gone', () => {
    fold('ADDED', virtualKey(web), webPod)
    fold('DELETED', virtualKey(web), webPod)
    expect(projection.view(TENANT, web, 0).virtual).toEqual({ gone: { uid: 'v-web', seq: 2 }, seq: 2 })
  })

  test('that was never seen leaves a tombstone too', () => {
    fold('DELETED', virtualKey(web), webPod)
    expect(projection.view(TENANT, web, 0).virtual.gone).toEqual({ uid: 'v-web', seq: 1 })
  })

  test('a namespace’s changed labels concern its pods, other changes itself alone', () => {
    const namespace = (labels: Record<string, string>, uid = 'ns'): KubeObject => ({
      metadata: { name: 'default', labels, uid },
    })
    const key = virtualKey(ref('namespaces', 'default', ''))
    fold('ADDED', virtualKey(web), webPod)
    fold(
      'ADDED',
      virtualKey(ref('pods', 'other', 'elsewhere')),
      withUid(podOf('other', { namespace: 'elsewhere' }), 'o'),
    )
    expect(fold('ADDED', key, namespace({ a: '1' }))).toEqual(['namespaces/default', 'pods/web'])
    expect(fold('MODIFIED', key, namespace({ a: '1' }))).toEqual(['namespaces/default'])
    expect(fold('MODIFIED', key, namespace({ a: '2' }))).toEqual(['namespaces/default', 'pods/web'])
    expect(fold('DELETED', key, namespace({ a: '2' }))).toEqual(['namespaces/default', 'pods/web'])
  })

  test.each([
    ['no JSON', new TextEncoder().encode('{')],
    ['no object', encodePayload({ type: 'ADDED' })],
  ])('whose payload is %s changes nothing', (_title, payload) => {
    fold('ADDED', virtualKey(web), webPod)
    expect(() => projection.fold(log.raw(virtualKey(web), payload))).toThrow(EnvelopeError)
    expect(projection.view(TENANT, web, 0).virtual.object).toEqual(webPod)
  })

  test('keeps it at hand as long as it is looked at, and reads it again later', () => {
    fold('ADDED', virtualKey(web), webPod)
    const get = (): KubeObject | undefined => projection.objects.get(virtualKey(web))?.object
    const first = get()
    projection.objects.forgetIdleCache()
    expect(get()).toBe(first)
    projection.objects.forgetIdleCache()
    projection.objects.forgetIdleCache()
    expect(get()).not.toBe(first)
    expect(get()).toEqual(first)
  })

  test('keeps tenants apart', () => {
    fold('ADDED', virtualKey(web), webPod)
    fold('ADDED', virtualKey(web, 'team-b'), withUid(webPod, 'other'))
    expect(projection.view(TENANT, web, 0).virtual.object?.metadata.uid).toBe('v-web')
    expect([...projection.sweep({ tenant: TEAM })]).toEqual([{ tenant: TEAM, ref: web }])
  })
})

describe('folding a host copy in', () => {
  test('makes the object that it stands for due', () => {
    fold('ADDED', virtualKey(web), webPod)
    const copy = copyOf(web, 'h1')
    expect(fold('ADDED', copy.key, copy.object)).toEqual(['pods/web'])
    expect(projection.view(TENANT, web, 0).host.object).toEqual(copy.object)
  })

  test('remembers when it is gone whose copy it was, even if no more is told than its uid', () => {
    fold('ADDED', virtualKey(web), webPod)
    const copy = copyOf(web, 'h1')
    fold('ADDED', copy.key, copy.object)
    const { name } = copy.key
    expect(fold('DELETED', copy.key, { metadata: { name, uid: 'h1' } })).toEqual(['pods/web'])
    expect(projection.view(TENANT, web, 0).host.gone).toEqual({ uid: 'h1', seq: 3, virtualUid: 'v-web' })
  })

  test('concerns nobody when its stamps do not fit its name', () => {
    fold('ADDED', virtualKey(web), webPod)
    const copy = copyOf(web, 'h1')
    const stolen = { ...copy.key, name: 'copy-of-a-copy' }
    const object = { ...copy.object, metadata: { ...copy.object.metadata, name: 'copy-of-a-copy' } }
    expect(fold('ADDED', stolen, object)).toEqual([])
  })

  test('that loses its stamps concerns the object that had it', () => {
    fold('ADDED', virtualKey(web), webPod)
    const copy = copyOf(web, 'h1')
    fold('ADDED', copy.key, copy.object)
    const bare = { ...copy.object, metadata: { ...copy.object.metadata, annotations: {} } }
    expect(fold('MODIFIED', copy.key, bare)).toEqual(['pods/web'])
  })

  test('keeps what it uses in use after its original is gone', () => {
    fold('ADDED', virtualKey(cfg), config)
    fold('ADDED', virtualKey(web), webWithConfig)
    const copy = copyOf(web, 'h1')
    fold('ADDED', copy.key, copy.object)
    expect(fold('DELETED', virtualKey(web), webWithConfig)).toEqual(['pods/web'])
    expect(projection.references.usersOf(TEAM, cfg)).toEqual([web])
    expect(fold('DELETED', copy.key, copy.object)).toEqual(['configmaps/cfg', 'pods/web'])
    expect(projection.references.usersOf(TEAM, cfg)).toEqual([])
  })

  test('tells which node is used, and the node’s changes concern those who use it', () => {
    const node = ref('nodes', 'n1', '')
    const nodeKey: ObjectKey = { tenant: '', side: 'host', ...node }
    const nodeObject: KubeObject = { metadata: { name: 'n1', uid: 'n' } }
    fold('ADDED', virtualKey(web), webPod)
    expect(fold('ADDED', nodeKey, nodeObject)).toEqual([])
    const copy = copyOf(web, 'h1')
    const bound = { ...copy.object, spec: { ...(copy.object['spec'] as object), nodeName: 'n1' } }
    expect(fold('ADDED', copy.key, bound)).toEqual(['nodes/n1', 'pods/web'])
    expect(fold('MODIFIED', nodeKey, nodeObject)).toEqual(['nodes/n1'])
    // A node that is wanted and not there yet is part of a sweep.
    expect(shown([...projection.sweep({ tenant: TEAM })])).toEqual(['nodes/n1', 'pods/web'])
  })

  test('of a tenant that is not known yet is put in relation once it is', () => {
    fold('ADDED', virtualKey(web), webPod)
    const copy = copyOf(web, 'h1')
    const bound = { ...copy.object, spec: { ...(copy.object['spec'] as object), nodeName: 'n1' } }
    known.clear()
    fold('ADDED', copy.key, bound)
    expect(projection.references.targets(TEAM, 'nodes')).toEqual([])
    known.add(TEAM)
    expect(shown(projection.refreshReferences({ tenant: TEAM, ref: web }))).toEqual(['nodes/n1'])
    expect(projection.refreshReferences({ tenant: TEAM, ref: web })).toEqual([])
  })
})

describe('sealed objects', () => {
  const token = ref('secrets', 'token')
  const secret = withUid(objectOf('Secret', 'token', { data: { password: 'aGVsbG8=' } }), 'v-s')

  test('are opened for decisions and sealed on disk', () => {
    fold('ADDED', virtualKey(token), vault.seal(virtualKey(token), secret))
    expect(projection.view(TENANT, token, 0).virtual.object).toEqual(secret)
    reopen()
    expect(projection.view(TENANT, token, 0).virtual.object).toEqual(secret)
    const raw = new Sqlite(path, { readonly: true })
    expect(JSON.stringify(raw.prepare('SELECT body FROM objects').all())).not.toContain('aGVsbG8=')
    raw.close()
  })

  test('that cannot be opened change nothing, and what comes after them is taken in', () => {
    const other = createVault({ active: 'k9', keys: new Map([['k9', Buffer.alloc(32, 1)]]) })
    const unreadable = other.seal(virtualKey(token), secret)
    expect(() => fold('ADDED', virtualKey(token), unreadable)).toThrow(/k9/)
    expect(projection.view(TENANT, token, 0).virtual).toEqual({ seq: 0 })
    fold('MODIFIED', virtualKey(token), vault.seal(virtualKey(token), secret))
    expect(projection.view(TENANT, token, 0).virtual.object).toEqual(secret)
  })

  test('whose key is lost later can still be followed', () => {
    fold('ADDED', virtualKey(token), vault.seal(virtualKey(token), secret))
    projection.close()
    const other = createVault({ active: 'k9', keys: new Map([['k9', Buffer.alloc(32, 1)]]) })
    projection = new Projection({ path, vault: other, hostNamespaceOf: () => TENANT.hostNamespace })
    expect(() => projection.view(TENANT, token, 0)).toThrow(/k1/)
    fold('MODIFIED', virtualKey(token), other.seal(virtualKey(token), secret))
    expect(projection.view(TENANT, token, 0).virtual.object).toEqual(secret)
  })
})

describe('the end of a list', () => {
  test.each([
    ['virtual', 'pods', ['configmaps', 'secrets', 'pods']],
    ['virtual', 'services', ['services']],
    ['host', 'pods', ['nodes', 'pods']],
  ] as const)('of %s %s calls for a sweep of what may have been missing', (side, resource, resources) => {
    expect(projection.synced(TEAM, side, resource)).toBe(false)
    const folded = projection.fold(log.synced({ tenant: TEAM, side, resource }))
    const swept: unknown = expect.arrayContaining([...resources])
    expect(folded).toEqual({ keys: [], sweeps: [{ tenant: TEAM, resources: swept }] })
    expect(projection.synced(TEAM, side, resource)).toBe(true)
  })

  test('of objects that concern all tenants calls for one of every tenant', () => {
    projection.bindTenant(TEAM, 'uid')
    const resource = 'ingressclasses.networking.k8s.io'
    const folded = projection.fold(log.synced({ tenant: '', side: 'host', resource }))
    expect(folded).toEqual({ keys: [], sweeps: [{ tenant: TEAM, resources: [resource] }] })
    expect(
      projection.view(TENANT, { resource, namespace: '', name: 'nginx' }, 0).related.synced('host', resource),
    ).toBe(true)
  })
})

test('the end of a list makes due what the API did not serve, on that side and of that kind', () => {
  const gateway = { resource: 'gateways.gateway.networking.k8s.io', namespace: 'default', name: 'edge' }
  const key = { tenant: TEAM, ref: gateway }
  const row = {
    intentId: 'i',
    digest: 'd',
    attempt: 3,
    state: 'parked',
    carriesBase: false,
    since: 5,
    due: 900,
  } as const
  const slot = `host/${gateway.resource}/causeway-team/edge/create`
  projection.bindTenant(TEAM, 'uid')
  projection.pending.put(key, { ...row, slot, reason: 'Unsupported' })
  projection.fold(log.synced({ tenant: TEAM, side: 'virtual', resource: gateway.resource }))
  projection.fold(log.synced({ tenant: TEAM, side: 'host', resource: 'pods' }))
  expect(projection.pending.due(10, 10)).toEqual([])
  projection.fold(log.synced({ tenant: TEAM, side: 'host', resource: gateway.resource }))
  expect(projection.pending.due(10, 10)).toEqual([key])
})

describe('a sweep', () => {
  test('goes through originals and through copies that have none, in the order of deciding', () => {
    fold('ADDED', virtualKey(web), webWithConfig)
    fold('ADDED', virtualKey(cfg), config)
    const copies = [copyOf(web, 'h1'), copyOf(cfg, 'h2')]
    for (const copy of copies) fold('ADDED', copy.key, copy.object)
    fold('DELETED', virtualKey(cfg), config)
    const keys = [...projection.sweep({ tenant: TEAM })]
    expect(keys.map((key) => key.ref)).toEqual([cfg, web])
    expect([...projection.sweep({ tenant: TEAM, resources: ['pods'] })].map((key) => key.ref)).toEqual([web])
  })

  test('goes on where it was while objects come and go', () => {
    const name = (index: number): string => `p${String(index).padStart(4, '0')}`
    for (let index = 0; index < 450; index++) {
      fold('ADDED', virtualKey(ref('pods', name(index))), withUid(podOf(name(index)), `u${index}`))
    }
    const sweep = projection.sweep({ tenant: TEAM })
    const seen = new Set<string>()
    for (let index = 0; index < 300; index++) {
      const next = sweep.next()
      if (next.value !== undefined) seen.add(next.value.ref.name)
    }
    fold('DELETED', virtualKey(ref('pods', name(449))), withUid(podOf(name(449)), 'u449'))
    fold('ADDED', virtualKey(ref('pods', 'z-new')), withUid(podOf('z-new'), 'z'))
    projection.commit()
    for (const key of sweep) seen.add(key.ref.name)
    expect(seen.has('z-new')).toBe(true)
    expect(seen.size).toBe(450)
  })
})

describe('tombstones', () => {
  const expire = (): boolean => projection.expireTombstones({ before: 5_000, now: 9_000, limit: 10 })

  test('go once they are old and nothing is left on the other side', () => {
    fold('DELETED', virtualKey(web), webPod)
    log.now = 6_000
    fold('DELETED', virtualKey(cfg), config)
    expect(expire()).toBe(false)
    expect(projection.view(TENANT, web, 0).virtual).toEqual({ seq: 0 })
    expect(projection.view(TENANT, cfg, 0).virtual.gone).toBeDefined()
  })

  test('stay while the copy is there that they prove deletable', () => {
    fold('ADDED', virtualKey(web), webPod)
    const copy = copyOf(web, 'h1')
    fold('ADDED', copy.key, copy.object)
    fold('DELETED', virtualKey(web), webPod)
    expire()
    expect(projection.view(TENANT, web, 0).virtual.gone).toBeDefined()
  })

  test('stay while the pod is there that must not run again', () => {
    fold('ADDED', virtualKey(web), webPod)
    const copy = copyOf(web, 'h1')
    fold('ADDED', copy.key, copy.object)
    fold('DELETED', copy.key, copy.object)
    expire()
    expect(projection.view(TENANT, web, 0).host.gone).toBeDefined()
    fold('DELETED', virtualKey(web), webPod)
    projection.expireTombstones({ before: 9_999, now: 20_000, limit: 10 })
    expect(projection.view(TENANT, web, 0)).toMatchObject({ host: { seq: 0 }, virtual: { seq: 0 } })
  })

  test('that stay do not keep others from being looked at', () => {
    fold('ADDED', virtualKey(web), webPod)
    const copy = copyOf(web, 'h1')
    fold('ADDED', copy.key, copy.object)
    fold('DELETED', virtualKey(web), webPod)
    fold('DELETED', virtualKey(cfg), config)
    for (let round = 0; round < 2; round++) projection.expireTombstones({ before: 5_000, now: 9_000, limit: 1 })
    expect(projection.view(TENANT, cfg, 0).virtual).toEqual({ seq: 0 })
  })

  test('make way for an object that comes back', () => {
    fold('DELETED', virtualKey(web), webPod)
    fold('ADDED', virtualKey(web), webPod)
    expire()
    expect(projection.view(TENANT, web, 0).virtual.object).toEqual(webPod)
  })
})

describe('the file', () => {
  test('holds after a restart what was committed', () => {
    expect(projection.fresh).toBe(true)
    fold('ADDED', virtualKey(web), webPod)
    projection.setAgreement({ tenant: TEAM, ref: web }, { base: { labels: { a: '=1' } }, seq: 1 })
    projection.setPosition('CHANGES', 7)
    projection.markFilled()
    reopen()
    expect(projection.fresh).toBe(false)
    expect(projection.view(TENANT, web, 0)).toMatchObject({
      virtual: { object: webPod },
      base: { labels: { a: '=1' } },
    })
    expect(projection.position('CHANGES')).toBe(7)
    expect(projection.position('OUTCOMES')).toBe(0)
  })

  test('holds nothing of what was abandoned', () => {
    projection.markFilled()
    projection.commit()
    fold('ADDED', virtualKey(web), webPod)
    projection.setPosition('CHANGES', 7)
    projection.abandon()
    projection = open()
    expect(projection.view(TENANT, web, 0).virtual).toEqual({ seq: 0 })
    expect(projection.position('CHANGES')).toBe(0)
  })

  test('that was left before it was filled counts as fresh', () => {
    fold('ADDED', virtualKey(web), webPod)
    reopen()
    expect(projection.fresh).toBe(true)
  })

  test.each([
    ['damaged', () => writeFileSync(path, 'this is no database, but long enough to be looked at as one'.repeat(40))],
    [
      'of another version',
      () => {
        const database = new Sqlite(path)
        database.pragma('user_version = 1')
        database.close()
      },
    ],
  ])('%s is set aside and made anew', (_title, spoil) => {
    projection.markFilled()
    projection.close()
    spoil()
    projection = open()
    expect(projection.fresh).toBe(true)
    expect(existsSync(`${path}.old`)).toBe(true)
    expect(fold('ADDED', virtualKey(web), webPod)).toEqual(['pods/web'])
  })

  test('in a place that cannot be written is an error that says so', () => {
    const options = { vault, hostNamespaceOf: () => undefined }
    writeFileSync(join(folder, 'file'), '')
    expect(() => new Projection({ ...options, path: join(folder, 'file', 'p.sqlite') })).toThrow(/file/)
  })
})

describe('tenants', () => {
  test('registered anew under the same name begin with nothing of their own', () => {
    projection.bindTenant(TEAM, 't1')
    fold('ADDED', virtualKey(web), webPod)
    projection.bindTenant(TEAM, 't1')
    expect(projection.view(TENANT, web, 0).virtual.object).toBeDefined()
    projection.bindTenant(TEAM, 't2')
    expect(projection.view(TENANT, web, 0).virtual).toEqual({ seq: 0 })
  })

  describe('registered anew, of which the log tells before the registry does', () => {
    const change = (owner: string, key: ObjectKey, object: KubeObject) => {
      log.owner = owner
      return projection.fold(log.change('ADDED', key, object))
    }
    const seen = (of: ObjectRef) => projection.view(TENANT, of, 0).virtual.object?.metadata.uid
    const other = ref('pods', 'other')

    beforeEach(() => {
      projection.bindTenant(TEAM, 't1')
      change('t1', virtualKey(other), withUid(podOf('other'), 'old'))
      change('t2', virtualKey(web), withUid(podOf('web'), 'new'))
    })

    test.each<[string, () => void]>([
      ['tells of the end and of the beginning', () => (projection.forgetTenant(TEAM, 't1'), undefined)],
      ['tells of the beginning alone', () => undefined],
      ['is read anew and tells of the former for a moment', () => projection.bindTenant(TEAM, 't1')],
    ])('keep what was folded in of them, and nothing of the former, when the registry %s', (_what, told) => {
      told()
      projection.bindTenant(TEAM, 't2')
      expect(seen(web)).toBe('new')
      expect(seen(other)).toBeUndefined()
      expect(projection.tenants()).toEqual([TEAM])
    })

    test('are not changed by what comes late of the former, also after a restart', () => {
      projection.bindTenant(TEAM, 't2')
      reopen()
      expect(change('t1', virtualKey(other), withUid(podOf('other'), 'late'))).toEqual({ keys: [] })
      log.owner = 't1'
      expect(projection.fold(log.synced({ tenant: TEAM, side: 'virtual', resource: 'pods' }))).toEqual({ keys: [] })
      expect(seen(other)).toBeUndefined()
      expect(projection.synced(TEAM, 'virtual', 'pods')).toBe(false)
      expect(seen(web)).toBe('new')
    })

    test('take in what is on the host, whoever it was read for', () => {
      projection.bindTenant(TEAM, 't2')
      const key: ObjectKey = { ...virtualKey(ref('pods', 'copy', TENANT.hostNamespace)), side: 'host' }
      change('t1', key, withUid(podOf('copy'), 'h'))
      expect(projection.objects.get(key)?.uid).toBe('h')
    })

    test('keep what was read of the host before they were known, for whomever', () => {
      const key: ObjectKey = { ...virtualKey(ref('pods', 'copy', TENANT.hostNamespace)), side: 'host' }
      change('t2', key, withUid(podOf('copy'), 'h'))
      change('t3', virtualKey(web), withUid(podOf('web'), 'newest'))
      expect(projection.objects.get(key)?.uid).toBe('h')
      // The watch of the host is told later than others: what it says ends nothing.
      change('t0', key, withUid(podOf('copy'), 'h2'))
      expect(projection.objects.get(key)?.uid).toBe('h2')
      expect(seen(web)).toBe('newest')
    })

    test('may end again: then what comes late of them is nobody’s', () => {
      projection.bindTenant(TEAM, 't2')
      projection.forgetTenant(TEAM, 't2')
      change('t2', virtualKey(web), webPod)
      expect(seen(web)).toBeUndefined()
      projection.bindTenant(TEAM, 't3')
      expect(seen(web)).toBeUndefined()
    })

    test('may be the former once more, where the registry was restored', () => {
      projection.bindTenant(TEAM, 't2')
      projection.bindTenant(TEAM, 't1')
      change('t1', virtualKey(web), withUid(podOf('web'), 'restored'))
      expect(seen(web)).toBe('restored')
    })
  })

  test('that are forgotten leave nothing, and others stay', () => {
    projection.bindTenant(TEAM, 't1')
    projection.bindTenant('team-b', 't2')
    for (const tenant of [TEAM, 'team-b']) {
      fold('ADDED', virtualKey(web, tenant), webPod)
      projection.setAgreement({ tenant, ref: web }, { base: {}, seq: 1 })
    }
    projection.retainTenants(new Set(['team-b']))
    expect([...projection.sweep({ tenant: TEAM })]).toEqual([])
    expect(projection.agreement({ tenant: TEAM, ref: web })).toBeUndefined()
    expect([...projection.sweep({ tenant: 'team-b' })]).toHaveLength(1)
    expect(projection.agreement({ tenant: 'team-b', ref: web })).toEqual({ base: {}, seq: 1 })
  })

  test('that are not bound do not hide what is due of others', () => {
    const row = {
      slot: 's',
      intentId: '',
      digest: '',
      attempt: 0,
      state: 'retry',
      carriesBase: false,
      since: 0,
    } as const
    projection.bindTenant(TEAM, 't1')
    projection.pending.put({ tenant: 'gone', ref: web }, { ...row, due: 1 })
    projection.pending.put({ tenant: TEAM, ref: web }, { ...row, due: 50 })
    expect(projection.pending.nextDue()).toBe(50)
    expect(projection.pending.due(10, 10)).toEqual([])
    expect(projection.pending.due(50, 10)).toEqual([{ tenant: TEAM, ref: web }])
  })
})

test('writes under way are kept as they were put, by key and slot', () => {
  const key = { tenant: TEAM, ref: web }
  const parked = {
    slot: 'a',
    intentId: 'i',
    digest: 'd',
    attempt: 3,
    state: 'parked',
    reason: 'Invalid',
    message: 'no',
    carriesBase: true,
    since: 5,
    due: 9.5,
  } as const
  const done = {
    slot: 'b',
    intentId: 'j',
    digest: 'e',
    attempt: 0,
    state: 'done',
    carriesBase: false,
    since: 6,
    resultVersion: '8',
  } as const
  projection.pending.put(key, parked)
  projection.pending.put(key, done)
  expect(projection.pending.of(key)).toEqual([parked, done])
  expect(projection.pending.parkedByReason()).toEqual([{ reason: 'Invalid', count: 1 }])
  projection.pending.delete(key, 'a')
  expect(projection.pending.of(key)).toEqual([done])
})

test('tells what of each tenant waits, each object once per reason, the longest first', () => {
  projection.bindTenant(TEAM, 't1')
  const row = { slot: 'a', intentId: '', digest: '', attempt: 0, carriesBase: false } as const
  const put = (of: ObjectRef, more: object, tenant = TEAM): void =>
    projection.pending.put({ tenant, ref: of }, { ...row, state: 'parked', since: 1, ...more })
  put(web, { reason: 'Invalid', since: 9 })
  put(web, { reason: 'Invalid', since: 7, slot: 'b' })
  put(cfg, { reason: 'Forbidden', since: 8, state: 'issued' })
  put(ref('pods', 'made'), { state: 'issued', since: 1 })
  put(ref('pods', 'done'), { reason: 'Invalid', state: 'settled' })
  put(web, { reason: 'Invalid' }, 'unknown')
  const counts = projection.pending.waitingByReason().toSorted((a, b) => a.reason.localeCompare(b.reason))
  expect(counts).toEqual([
    { tenant: TEAM, reason: 'Forbidden', count: 1 },
    { tenant: TEAM, reason: 'Invalid', count: 1 },
  ])
  const longest = { ...web, reason: 'Invalid', since: 7 }
  expect(projection.pending.waitingLongest(TEAM, 9)).toEqual([longest, { ...cfg, reason: 'Forbidden', since: 8 }])
  expect(projection.pending.waitingLongest(TEAM, 1)).toEqual([longest])
})

test('a deletion that is told again, late, takes nothing from the object that has the name now', () => {
  fold('ADDED', virtualKey(web), webPod)
  fold('DELETED', virtualKey(web), webPod)
  fold('ADDED', virtualKey(web), withUid(webPod, 'v-web-2'))
  expect(fold('DELETED', virtualKey(web), webPod)).toEqual([])
  expect(projection.view(TENANT, web, 0).virtual.object?.metadata.uid).toBe('v-web-2')
})
