import { randomBytes } from 'node:crypto'
import type { Agreement, LoggedChange, StreamName } from '#libs/events'
import {
  type JsonObject,
  type KubeObject,
  type ObjectKey,
  type ObjectRef,
  type Side,
  keyString,
  resourceToken,
} from '#libs/kube-model'
import {
  type Presence,
  type Related,
  type TenantContext,
  type View,
  hostRefOf,
  isCustomResource,
  isMirrored,
  isTwoSided,
  kindFor,
  type TenantPlace,
  kindsFollowing,
  mirrorFor,
  mirrorsUsedBy,
} from '#libs/translation'
import type { Vault } from '#libs/vault'
import { CopyTable, type MadeCopy } from './copy-table.ts'
import { type Database, openDatabase } from './database.ts'
import { foldHost, foldHostShared, foldVirtual, refreshReferences } from './fold.ts'
import { ObjectTable } from './object-table.ts'
import { type DecisionKey, PendingTable } from './pending-table.ts'
import { Registrations } from './registrations.ts'
import { ReferenceTable } from './reference-table.ts'
import { type Sweep, sweepKeys } from './sweep-keys.ts'
import { TombstoneTable } from './tombstones.ts'
import { VanishedTable } from './vanished-table.ts'

export type ProjectionOptions = {
  path: string
  vault: Vault
  /** The host namespace of a tenant, `undefined` while the tenant is not known. */
  hostNamespaceOf: (tenant: string) => string | undefined
  /** What else is to be known of a tenant: where its namespaces are on the host, for kinds whose copies have other names than their originals, and for patches that are references. @default nothing */
  contextOf?: (tenant: string) => TenantContext | undefined
}

/**
 * The state of a partition's tenants, both sides, folded from the log into one SQLite file. Writes go into one open
 * transaction until {@link Projection.commit}: what is not committed is folded again after a crash.
 */
export class Projection {
  readonly objects: ObjectTable
  readonly references: ReferenceTable
  readonly pending: PendingTable
  readonly vanished: VanishedTable
  readonly copies: CopyTable
  /** Whether the file was made just now, so that it must be filled from STATE. */
  readonly fresh: boolean
  /**
   * Tells this file from one that was lost. What was asked for out of that one may be carried out and forgotten; the
   * same decision out of this file must not pass for its repeat.
   */
  readonly generation: string
  readonly #database: Database
  readonly #registrations: Registrations
  readonly #tombstones: TombstoneTable
  readonly #positions = new Map<StreamName, number>()
  readonly #meta
  readonly #setMeta
  readonly #synced
  readonly #setSynced
  readonly #listed
  readonly #base
  readonly #setBase
  readonly #dropBase
  readonly #hostNamespaceOf: ProjectionOptions['hostNamespaceOf']
  readonly #contextOf: NonNullable<ProjectionOptions['contextOf']>

  constructor(options: ProjectionOptions) {
    this.#hostNamespaceOf = options.hostNamespaceOf
    this.#contextOf = options.contextOf ?? (() => undefined)
    const { database, fresh } = openDatabase(options.path)
    this.#database = database
    this.objects = new ObjectTable(database, options.vault)
    this.references = new ReferenceTable(database)
    this.pending = new PendingTable(database)
    this.vanished = new VanishedTable(database)
    this.copies = new CopyTable(database)
    this.#registrations = new Registrations(database)
    this.#tombstones = new TombstoneTable(database)
    this.#meta = database.prepare<[string], { value: string }>('SELECT value FROM meta WHERE key = ?')
    this.#setMeta = database.prepare<[string, string]>('INSERT OR REPLACE INTO meta VALUES (?, ?)')
    this.#synced = database.prepare<[string, Side, string], { epoch: number }>(
      'SELECT epoch FROM synced WHERE tenant = ? AND side = ? AND resource = ?',
    )
    this.#setSynced = database.prepare<[string, Side, string, number]>(
      'INSERT OR REPLACE INTO synced VALUES (?, ?, ?, ?)',
    )
    this.#listed = database.prepare<[string], { resource: string }>(
      "SELECT DISTINCT resource FROM synced WHERE tenant IN (?, '')",
    )
    this.#base = database.prepare<[string, string, string, string], { base: string; seq: number }>(
      'SELECT base, seq FROM bases WHERE tenant = ? AND resource = ? AND namespace = ? AND name = ?',
    )
    this.#setBase = database.prepare<(string | number)[]>('INSERT OR REPLACE INTO bases VALUES (?, ?, ?, ?, ?, ?)')
    this.#dropBase = database.prepare<string[]>(
      'DELETE FROM bases WHERE tenant = ? AND resource = ? AND namespace = ? AND name = ?',
    )
    this.fresh = fresh || this.#meta.get('filled') === undefined
    this.generation = this.#meta.get('generation')?.value ?? randomBytes(4).toString('hex')
  }

  /** Sequence up to which a stream is folded in; 0 for none. */
  position(stream: StreamName): number {
    const known = this.#positions.get(stream)
    if (known !== undefined) return known
    const stored = Number(this.#meta.get(`position/${stream}`)?.value ?? 0)
    this.#positions.set(stream, stored)
    return stored
  }

  /** Moves the position on; it is stored by the next commit, with what it stands for. */
  setPosition(stream: StreamName, seq: number): void {
    this.#begin()
    this.#positions.set(stream, seq)
  }

  /** Which log the positions are of; `undefined` for a file that does not know. */
  get log(): string | undefined {
    return this.#meta.get('log')?.value
  }

  /** Notes which log this is: another one of the same name has other messages under the same sequences. */
  setLog(log: string): void {
    this.#begin()
    this.#setMeta.run('log', log)
  }

  /** Notes that the file holds all that STATE held: from here on the log alone keeps it current. */
  markFilled(): void {
    this.#begin()
    this.#setMeta.run('filled', '1')
    this.#setMeta.run('generation', this.generation)
  }

  /**
   * Takes a change in.
   * @returns the keys whose decision may differ now; for the end of a list, which may concern very many, what to sweep
   * @throws EnvelopeError when the payload holds no object, CausewayError `SealBroken`; nothing is changed then
   */
  fold(change: LoggedChange): { keys: DecisionKey[]; sweeps?: Sweep[] } {
    this.#begin()
    if (!this.#isCurrent(change)) return { keys: [] }
    if (change.type === 'SYNCED') return { keys: [], sweeps: this.#foldMarker(change) }
    if (this.#isOutlived(change)) return { keys: [] }
    if (change.key.tenant === '') return { keys: foldHostShared(this, change) }
    return { keys: change.key.side === 'virtual' ? foldVirtual(this, change) : foldHost(this, change) }
  }

  /**
   * Works out anew what an object refers to: what was folded in before its tenant was known could not be put in relation
   * to the host.
   * @returns keys whose decision may differ now
   */
  refreshReferences(key: DecisionKey): DecisionKey[] {
    this.#begin()
    return refreshReferences(this, key.tenant, key.ref)
  }

  /**
   * Says which tenant has this name now. What was folded in of an earlier one of the same name is forgotten: its
   * objects are not the new one's. The log may have brought a later one before the registry tells of it: that one stays.
   */
  bindTenant(name: string, uid: string): void {
    if (this.#registrations.isSuperseded(name, uid)) return
    this.#bind(name, uid, { byLog: false })
  }

  /** Tenants whose objects are folded in. */
  tenants(): string[] {
    return this.#registrations.names()
  }

  /** Forgets tenants that were bound and are not among these: they were removed while nobody followed. */
  retainTenants(names: ReadonlySet<string>): void {
    for (const name of this.tenants()) if (!names.has(name)) this.#forget(name, undefined)
  }

  /**
   * Forgets all that was folded in of a tenant. Nothing is decided by that: its objects are simply not followed any more.
   * @param uid of the registration that has ended, where it is known: of one after it all stays
   */
  forgetTenant(name: string, uid = this.#registrations.uidOf(name)): void {
    const bound = this.#registrations.uidOf(name)
    if (bound === undefined || bound === uid) this.#forget(name, uid)
  }

  #bind(name: string, uid: string, { byLog }: { byLog: boolean }): void {
    const bound = this.#registrations.uidOf(name)
    if (bound !== undefined && bound !== uid) this.#forget(name, bound, { side: 'virtual' })
    this.#begin()
    this.#registrations.bind(name, uid, { byLog, instead: bound })
  }

  /** @param only what is to be forgotten; without it, everything of the tenant */
  #forget(name: string, retired: string | undefined, only?: { side: 'virtual' }): void {
    this.#begin()
    for (const table of ['refs', 'bases', 'pending', 'copies', 'vanished']) {
      this.#database.prepare(`DELETE FROM ${table} WHERE tenant = ?`).run(name)
    }
    for (const table of ['objects', 'synced']) {
      const where = only === undefined ? '' : ` AND side = '${only.side}'`
      this.#database.prepare(`DELETE FROM ${table} WHERE tenant = ?${where}`).run(name)
    }
    this.#registrations.unbind(name, retired)
    this.objects.forgetCache()
  }

  /**
   * Whether a change is of the registration that is folded in; one of a later registration begins it. On the host the
   * objects are the same whoever is registered.
   */
  #isCurrent({ key, owner }: LoggedChange): boolean {
    if (key.tenant === '' || owner === undefined) return true
    // Nor does what was seen there say which is the latest: the watch of the host may not have been told yet.
    if (key.side === 'host') return true
    const standing = this.#registrations.standing(key.tenant, owner)
    if (standing === 'next') this.#bind(key.tenant, owner, { byLog: true })
    return standing !== 'former'
  }

  /** Whether a deletion is of an object whose name another has by now: it says nothing of that one, however late it comes. */
  #isOutlived({ type, key, uid }: LoggedChange): boolean {
    if (type !== 'DELETED') return false
    const known = this.objects.peek(key)
    return known?.object !== undefined && known.uid !== uid
  }

  /** What a decision about a key looks at. */
  view(tenant: TenantContext, ref: ObjectRef, waitedMs: number): View {
    const base = this.agreement({ tenant: tenant.name, ref })?.base
    const original = isTwoSided(ref.resource) ? this.#original(ref, tenant) : undefined
    const made = isMirrored(ref.resource) ? undefined : this.#madeCopy(tenant, ref)
    return {
      tenant,
      key: ref,
      virtual: this.objects.presence({ tenant: tenant.name, side: 'virtual', ...ref }),
      host: isMirrored(ref.resource)
        ? this.#originalPresence(ref, tenant)
        : this.objects.presence(this.hostKeyOf(tenant, ref)),
      ...(original === undefined ? {} : { original }),
      ...(made === undefined ? {} : { made }),
      ...(base === undefined ? {} : { base }),
      related: this.#related(tenant),
      waitedMs,
    }
  }

  /** Notes that a host object was made as the copy of a virtual one: its stamps prove nothing that this does not. */
  noteCopy(key: ObjectKey, copy: MadeCopy): void {
    const tenant = this.#placeOf(key.tenant)
    const place = tenant === undefined || isMirrored(key.resource) ? undefined : this.hostKeyOf(tenant, copy.ref)
    if (place === undefined || keyString(place) !== keyString(key)) return
    this.#begin()
    this.copies.note(key, copy)
  }

  #madeCopy(tenant: TenantContext, ref: ObjectRef): View['made'] {
    const made = this.copies.get(this.hostKeyOf(tenant, ref))
    if (made?.ref.namespace !== ref.namespace || made.ref.name !== ref.name) return undefined
    return { uid: made.uid, ...(made.virtualUid === undefined ? {} : { virtualUid: made.virtualUid }) }
  }

  #placeOf(tenant: string): TenantPlace | undefined {
    const context = this.#contextOf(tenant)
    const hostNamespace = context?.hostNamespace ?? this.#hostNamespaceOf(tenant)
    return context ?? (hostNamespace === undefined ? undefined : { name: tenant, hostNamespace })
  }

  /** A virtual object's host copy, if it is there. */
  hostCopyOf(tenant: string, ref: ObjectRef): KubeObject | undefined {
    const place = this.#placeOf(tenant)
    return place === undefined ? undefined : this.objects.peek(this.hostKeyOf(place, ref))?.object
  }

  /** Whether a tenant may see host objects of this resource whether or not something of it uses them. */
  showsAll(tenant: string, resource: string): boolean {
    const mirror = mirrorFor(resource)
    if (mirror?.onlyWhileUsed !== true) return true
    const context = mirror.showsUnused === undefined ? undefined : this.#contextOf(tenant)
    return context !== undefined && mirror.showsUnused?.(context.config) === true
  }

  /** What is to be known of a tenant; `undefined` while it is not. */
  contextOf(tenant: string): TenantContext | undefined {
    return this.#contextOf(tenant)
  }

  /** Where an object that concerns all tenants appears in one of them. */
  copiesOf(tenant: string, original: ObjectRef): ObjectRef[] {
    const mirror = mirrorFor(original.resource)
    if (mirror?.copiesOf === undefined) return [original]
    const context = this.#contextOf(tenant)
    return context === undefined ? [] : mirror.copiesOf(original, context)
  }

  /** The keys of a sweep, read as they are taken; see `sweepKeys`. */
  sweep(sweep: Sweep): Generator<DecisionKey, void, void> {
    return sweepKeys(this, sweep)
  }

  /**
   * Drops tombstones from before `before` (ms since the epoch) that nothing needs any more.
   * @returns whether there may be more of them than `limit`
   */
  expireTombstones(options: { before: number; now: number; limit: number }): boolean {
    this.#begin()
    const looked = this.#tombstones.expire({
      ...options,
      hostCopyIsThere: (key) => this.hostCopyOf(key.tenant, key) !== undefined,
    })
    if (looked > 0) this.objects.forgetCache()
    return looked === options.limit
  }

  /** The key of a virtual object's host copy, or of the host object that it mirrors. */
  hostKeyOf(tenant: TenantPlace, ref: ObjectRef): ObjectKey {
    if (isMirrored(ref.resource)) return { tenant: '', side: 'host', ...ref }
    return { tenant: tenant.name, side: 'host', ...hostRefOf(ref, tenant) }
  }

  /** What both sides of a key last agreed on, and the sequence of the outcome that says so. */
  agreement(key: DecisionKey): Agreement | undefined {
    const row = this.#base.get(key.tenant, key.ref.resource, key.ref.namespace, key.ref.name)
    return row === undefined ? undefined : { base: JSON.parse(row.base) as JsonObject, seq: row.seq }
  }

  setAgreement(key: DecisionKey, agreed: Agreement | undefined): void {
    this.#begin()
    const columns = [key.tenant, key.ref.resource, key.ref.namespace, key.ref.name]
    if (agreed === undefined) this.#dropBase.run(...columns)
    else this.#setBase.run(...columns, JSON.stringify(agreed.base), agreed.seq)
  }

  /** Whether a complete list of a resource has been folded in. */
  synced(tenant: string, side: Side, resource: string): boolean {
    return this.#synced.get(tenant, side, resource) !== undefined
  }

  /** Resources that only configurations name and that lists have been folded in of, of the tenant's or of the host's own. */
  customResources(tenant: string): string[] {
    return this.#listed.all(tenant).flatMap(({ resource }) => (isCustomResource(resource) ? [resource] : []))
  }

  /** Makes everything since the last commit durable, in one step. */
  commit(): void {
    if (!this.#database.inTransaction) return
    for (const [stream, seq] of this.#positions) this.#setMeta.run(`position/${stream}`, String(seq))
    this.#database.exec('COMMIT')
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

  #foldMarker(change: LoggedChange): Sweep[] {
    const { tenant, side, resource } = change.key
    this.#setSynced.run(tenant, side, resource, change.epoch)
    // Copies of what every tenant may see, and that is not among what there is.
    if (tenant === '') return this.tenants().map((each) => ({ tenant: each, resources: [resource] }))
    // What could not be written as long as the API did not serve the kind.
    this.pending.wake({ tenant, reason: 'Unsupported', side, resource })
    // Copies whose original has not shown up in the complete list, and the other way round; what is used, which all
    // objects together tell that may refer to it; and what depends on whether one of these is there.
    const users = kindsFollowing(resource).map((kind) => resourceToken(kind.resource))
    return [{ tenant, resources: [...usedBy(side, resource), ...mirrorsUsedBy(resource), resource, ...users] }]
  }

  #original(ref: ObjectRef, tenant: TenantContext): NonNullable<View['original']> {
    return { ...this.#originalPresence(ref, tenant), synced: this.synced('', 'host', ref.resource) }
  }

  #originalPresence(ref: ObjectRef, tenant: TenantContext): Presence {
    const mirror = mirrorFor(ref.resource)
    const original = mirror?.originalOf === undefined ? ref : mirror.originalOf(ref, tenant)
    return original === undefined ? { seq: 0 } : this.objects.presence({ tenant: '', side: 'host', ...original })
  }

  #related(tenant: TenantContext): Related {
    return {
      virtual: (ref) => this.objects.get({ tenant: tenant.name, side: 'virtual', ...ref })?.object,
      host: (ref) => {
        const copy = this.objects.get({ tenant: tenant.name, side: 'host', ...ref })?.object
        if (copy !== undefined || mirrorFor(ref.resource) === undefined) return copy
        return this.objects.get({ tenant: '', side: 'host', ...ref })?.object
      },
      virtualIn: (resource, namespace) => this.#in({ tenant: tenant.name, side: 'virtual', resource, namespace }),
      hostIn: (resource, namespace) => this.#in({ tenant: tenant.name, side: 'host', resource, namespace }),
      usersOf: (ref) => this.references.usersOf(tenant.name, ref),
      synced: (side, resource) =>
        this.synced(side === 'host' && isMirrored(resource) ? '' : tenant.name, side, resource),
    }
  }

  #in(of: Omit<ObjectKey, 'name'>): KubeObject[] {
    return this.objects.listIn(of).flatMap((ref) => this.objects.get({ ...of, name: ref.name })?.object ?? [])
  }

  #begin(): void {
    if (!this.#database.inTransaction) this.#database.exec('BEGIN')
  }
}

/** What crosses, or is mirrored, only while objects of this resource and side refer to it. */
function usedBy(side: Side, resource: string): readonly string[] {
  if (side === 'virtual') return kindFor(resource)?.refersTo ?? []
  return resource === 'pods' ? ['nodes'] : []
}
