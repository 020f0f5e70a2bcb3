import type { ObjectKey, ObjectRef } from '#libs/kube-model'
import type { Database } from './database.ts'

/** A host object that is known to be ours, whatever its stamps say by now. */
export type MadeCopy = {
  uid: string
  /** The virtual object that it is the copy of. */
  ref: ObjectRef
  /** The uid of that, as it was when the copy was made. */
  virtualUid?: string
}

type Row = { uid: string; of_resource: string; of_namespace: string; of_name: string; virtual_uid: string | null }

type PageRow = {
  namespace: string
  name: string
  of_namespace: string | null
  of_name: string | null
  is_there: 0 | 1
}

/** A host object, with the virtual one that it is known to be the copy of, and whether that is there. */
export type PlacedCopy = { namespace: string; name: string; original?: ObjectRef; isOriginalThere: boolean }

/** Which host objects were made as copies, by where they are: one for each place. */
export class CopyTable {
  readonly #get
  readonly #put
  readonly #delete
  readonly #page

  constructor(database: Database) {
    const key = 'tenant = ? AND resource = ? AND namespace = ? AND name = ?'
    this.#get = database.prepare<string[], Row>(
      `SELECT uid, of_resource, of_namespace, of_name, virtual_uid FROM copies WHERE ${key}`,
    )
    // In one statement: most host objects have their original, and no more is to be known of them.
    this.#page = database.prepare<(string | number)[], PageRow>(
      `SELECT h.namespace, h.name, c.of_namespace, c.of_name, v.uid IS NOT NULL AS is_there FROM objects h
       LEFT JOIN copies c ON c.tenant = h.tenant AND c.resource = h.resource AND c.namespace = h.namespace
         AND c.name = h.name AND c.uid = h.uid AND c.of_resource = h.resource
       LEFT JOIN objects v ON v.tenant = h.tenant AND v.side = 'virtual' AND v.resource = h.resource
         AND v.namespace = c.of_namespace AND v.name = c.of_name AND v.body IS NOT NULL
       WHERE h.tenant = ? AND h.side = 'host' AND h.resource = ? AND (h.namespace, h.name) > (?, ?)
         AND h.body IS NOT NULL ORDER BY h.namespace, h.name LIMIT ?`,
    )
    this.#put = database.prepare<(string | null)[]>('INSERT OR REPLACE INTO copies VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)')
    this.#delete = database.prepare<string[]>(`DELETE FROM copies WHERE ${key} AND uid = ?`)
  }

  /** The copy that was made in a place, if one is known; an object of another uid there is not it. */
  get({ tenant, resource, namespace, name }: ObjectKey): MadeCopy | undefined {
    const row = this.#get.get(tenant, resource, namespace, name)
    if (row === undefined) return undefined
    return {
      uid: row.uid,
      ref: { resource: row.of_resource, namespace: row.of_namespace, name: row.of_name },
      ...(row.virtual_uid === null ? {} : { virtualUid: row.virtual_uid }),
    }
  }

  /** Host objects of a resource that are there, in order, beginning after one of them. */
  page(
    { tenant, resource }: Pick<ObjectKey, 'tenant' | 'resource'>,
    after: Pick<PlacedCopy, 'namespace' | 'name'> | undefined,
    limit: number,
  ): PlacedCopy[] {
    return this.#page.all(tenant, resource, after?.namespace ?? '', after?.name ?? '', limit).map((row) => ({
      namespace: row.namespace,
      name: row.name,
      isOriginalThere: row.is_there === 1,
      ...(row.of_name === null || row.of_namespace === null
        ? {}
        : { original: { resource, namespace: row.of_namespace, name: row.of_name } }),
    }))
  }

  /** Notes a copy. What was known of the same object stays where this says nothing. */
  note(key: ObjectKey, copy: MadeCopy): void {
    const before = this.get(key)
    const virtualUid = copy.virtualUid ?? (before?.uid === copy.uid ? before.virtualUid : undefined)
    const { resource, namespace, name } = copy.ref
    const isKnown =
      before?.uid === copy.uid &&
      before.virtualUid === virtualUid &&
      before.ref.resource === resource &&
      before.ref.namespace === namespace &&
      before.ref.name === name
    if (isKnown) return
    const at = [key.tenant, key.resource, key.namespace, key.name]
    this.#put.run(...at, copy.uid, resource, namespace, name, virtualUid ?? null)
  }

  /** Forgets a copy that is gone. */
  forget({ tenant, resource, namespace, name }: ObjectKey, uid: string): void {
    this.#delete.run(tenant, resource, namespace, name, uid)
  }
}
