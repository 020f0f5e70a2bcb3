import type { LoggedChange, StreamName } from '#libs/events'
import type { JsonObject, KubeObject, ObjectKey, ObjectRef, Side } from '#libs/kube-model'
import { DECIDE_ORDER, type Related, type TenantContext, type View, hostName, isMirrored } from '#libs/translation'
import type { Vault } from '#libs/vault'
import { type Database, openDatabase } from './database.ts'
import { decisionKeyOf, foldHost, foldHostShared, foldVirtual } from './fold.ts'
import { ObjectTable } from './object-table.ts'
import { type DecisionKey, PendingTable } from './pending-table.ts'
import { ReferenceTable } from './reference-table.ts'

export type ProjectionOptions = {
  path: string
  vault: Vault
  /** The host namespace of a tenant, `undefined` while the tenant is not known. */
  hostNamespaceOf: (tenant: string) => string | undefined
}

/**
 * The state of a partition's tenants, both sides, folded from the log into one SQLite file. Writes go into one open
 * transaction until {@link Projection.commit}: what is not committed is folded again after a crash.
 */
export class Projection {
  readonly objects: ObjectTable
  readonly references: ReferenceTable
  readonly pending: PendingTable
  /** Whether the file was made just now, so that it must be filled from STATE. */
  readonly fresh: boolean
  readonly #database: Database
  readonly #meta
  readonly #setMeta
  readonly #synced
  readonly #setSynced
  readonly #base
  readonly #setBase
  readonly #dropBase
  readonly #hostNamespaceOf: ProjectionOptions['hostNamespaceOf']

  constructor(options: ProjectionOptions) {
    this.#hostNamespaceOf = options.hostNamespaceOf
    const { database, fresh } = openDatabase(options.path)
    this.#database = database
    this.objects = new ObjectTable(database, options.vault)
    this.references = new ReferenceTable(database)
    this.pending = new PendingTable(database)
    this.#meta = database.prepare<[string], { value: string }>('SELECT value FROM meta WHERE key = ?')
    this.#setMeta = database.prepare<[string, string]>('INSERT OR REPLACE INTO meta VALUES (?, ?)')
    this.#synced = database.prepare<[string, Side, string], { epoch: number }>(
      'SELECT epoch FROM synced WHERE tenant = ? AND side = ? AND resource = ?',
    )
    this.#setSynced = database.prepare<[string, Side, string, number]>(
      'INSERT OR REPLACE INTO synced VALUES (?, ?, ?, ?)',
    )
    this.#base = database.prepare<[string, string, string, string], { base: string }>(
      'SELECT base FROM bases WHERE tenant = ? AND resource = ? AND namespace = ? AND name = ?',
    )
    this.#setBase = database.prepare<string[]>('INSERT OR REPLACE INTO bases VALUES (?, ?, ?, ?, ?)')
    this.#dropBase = database.prepare<string[]>(
      'DELETE FROM bases WHERE tenant = ? AND resource = ? AND namespace = ? AND name = ?',
    )
    this.fresh = fresh || this.#meta.get('filled') === undefined
  }

  /** Sequence up to which a stream is folded in; 0 for none. */
  position(stream: StreamName): number {
    return Number(this.#meta.get(`position/${stream}`)?.value ?? 0)
  }

  setPosition(stream: StreamName, seq: number): void {
    this.#begin()
    this.#setMeta.run(`position/${stream}`, String(seq))
  }

  /** Notes that the file holds all that STATE held: from here on the log alone keeps it current. */
  markFilled(): void {
    this.#begin()
    this.#setMeta.run('filled', '1')
  }

  /**
   * Takes a change in.
   * @returns the keys whose decision may differ now
   * @throws EnvelopeError when the payload holds no object; nothing is changed then
   */
  fold(change: LoggedChange): DecisionKey[] {
    this.#begin()
    if (change.type === 'SYNCED') return this.#foldMarker(change)
    if (change.key.tenant === '') return foldHostShared(this, change)
    return change.key.side === 'virtual' ? foldVirtual(this, change) : foldHost(this, change)
  }

  /**
   * Says which tenant has this name now. What was folded in of an earlier one of the same name is forgotten: its
   * objects are not the new one's.
   */
  bindTenant(name: string, uid: string): void {
    const bound = this.#database.prepare<[string], { uid: string }>('SELECT uid FROM tenants WHERE name = ?').get(name)
    if (bound?.uid === uid) return
    if (bound !== undefined) this.forgetTenant(name)
    this.#begin()
    this.#database.prepare('INSERT OR REPLACE INTO tenants VALUES (?, ?)').run(name, uid)
  }

  /** Forgets all that was folded in of a tenant. Nothing is decided by that: its objects are simply not followed any more. */
  forgetTenant(name: string): void {
    this.#begin()
    for (const table of ['objects', 'refs', 'synced', 'bases', 'pending']) {
      this.#database.prepare(`DELETE FROM ${table} WHERE tenant = ?`).run(name)
    }
    this.#database.prepare('DELETE FROM tenants WHERE name = ?').run(name)
    this.objects.forgetCache()
  }

  /** What a decision about a key looks at. */
  view(tenant: TenantContext, ref: ObjectRef, waitedMs: number): View {
    const base = this.base({ tenant: tenant.name, ref })
    return {
      tenant,
      key: ref,
      virtual: this.objects.presence({ tenant: tenant.name, side: 'virtual', ...ref }),
      host: this.objects.presence(this.hostKeyOf(tenant, ref)),
      ...(base === undefined ? {} : { base }),
      related: this.#related(tenant),
      waitedMs,
    }
  }

  /** A virtual object's host copy, if it is there. */
  hostCopyOf(tenant: string, ref: ObjectRef): KubeObject | undefined {
    const hostNamespace = this.#hostNamespaceOf(tenant)
    if (hostNamespace === undefined) return undefined
    return this.objects.get(this.hostKeyOf({ name: tenant, hostNamespace }, ref))?.object
  }

  /** All keys of a tenant that decisions are made about: its objects, and the originals of its host copies. */
  keysOf(tenant: string): DecisionKey[] {
    const keys = new Map<string, DecisionKey>()
    for (const resource of DECIDE_ORDER) {
      const virtual = this.objects.list({ tenant, side: 'virtual', resource }).map((ref) => ({ tenant, ref }))
      for (const key of [...virtual, ...this.#ownersOfCopies(tenant, resource)]) {
        keys.set(`${key.ref.resource}/${key.ref.namespace}/${key.ref.name}`, key)
      }
    }
    return [...keys.values()]
  }

  /** The key of a virtual object's host copy, or of the host object that it mirrors. */
  hostKeyOf(tenant: Pick<TenantContext, 'name' | 'hostNamespace'>, ref: ObjectRef): ObjectKey {
    if (isMirrored(ref.resource)) return { tenant: '', side: 'host', ...ref }
    return {
      tenant: tenant.name,
      side: 'host',
      resource: ref.resource,
      namespace: tenant.hostNamespace,
      name: hostName(ref, tenant.name),
    }
  }

  base(key: DecisionKey): JsonObject | undefined {
    const row = this.#base.get(key.tenant, key.ref.resource, key.ref.namespace, key.ref.name)
    return row === undefined ? undefined : (JSON.parse(row.base) as JsonObject)
  }

  setBase(key: DecisionKey, base: JsonObject | undefined): void {
    this.#begin()
    const columns = [key.tenant, key.ref.resource, key.ref.namespace, key.ref.name]
    if (base === undefined) this.#dropBase.run(...columns)
    else this.#setBase.run(...columns, JSON.stringify(base))
  }

  /** Whether a complete list of a resource has been folded in. */
  synced(tenant: string, side: Side, resource: string): boolean {
    return this.#synced.get(tenant, side, resource) !== undefined
  }

  /** Makes everything since the last commit durable, in one step. */
  commit(): void {
    if (this.#database.inTransaction) this.#database.exec('COMMIT')
  }

  /** Commits and closes the file. */
  close(): void {
    this.commit()
    this.#database.close()
  }

  /** Closes the file without what is not committed: for a partition that was lost to another owner. */
  abandon(): void {
    if (this.#database.inTransaction) this.#database.exec('ROLLBACK')
    this.#database.close()
  }

  #foldMarker(change: LoggedChange): DecisionKey[] {
    const { tenant, side, resource } = change.key
    this.#setSynced.run(tenant, side, resource, change.epoch)
    if (side === 'host') return this.#withoutCopy(tenant, resource)
    // Copies whose original has not shown up in the complete list; and what is used, which all pods together tell.
    const affected = resource === 'pods' ? ['configmaps', 'secrets', 'pods'] : [resource]
    return affected.flatMap((kind) => this.#ownersOfCopies(tenant, kind))
  }

  /** Objects whose copy a complete list of the host has not brought; once all pods are known, also nodes that may be unused. */
  #withoutCopy(tenant: string, resource: string): DecisionKey[] {
    const lists = resource === 'pods' ? ['nodes', 'pods'] : [resource]
    return lists
      .flatMap((kind) => this.objects.list({ tenant, side: 'virtual', resource: kind }))
      .filter((ref) => isMirrored(ref.resource) || this.hostCopyOf(tenant, ref) === undefined)
      .map((ref) => ({ tenant, ref }))
  }

  #ownersOfCopies(tenant: string, resource: string): DecisionKey[] {
    return this.objects.list({ tenant, side: 'host', resource }).flatMap((ref) => {
      const stored = this.objects.get({ tenant, side: 'host', ...ref })
      const key = stored?.object === undefined ? undefined : decisionKeyOf(tenant, stored.object, resource)
      return key === undefined ? [] : [key]
    })
  }

  #related(tenant: TenantContext): Related {
    return {
      virtual: (ref) => this.objects.get({ tenant: tenant.name, side: 'virtual', ...ref })?.object,
      host: (ref) => {
        const owner = isMirrored(ref.resource) ? '' : tenant.name
        return this.objects.get({ tenant: owner, side: 'host', ...ref })?.object
      },
      usersOf: (ref) => this.references.usersOf(tenant.name, ref),
      synced: (side, resource) => this.synced(tenant.name, side, resource),
    }
  }

  #begin(): void {
    if (!this.#database.inTransaction) this.#database.exec('BEGIN')
  }
}
