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

/** Which host objects were made as copies, by where they are: one for each place. */
export class CopyTable {
  readonly #get
  readonly #put
  readonly #delete

  constructor(database: Database) {
    const key = 'tenant = ? AND resource = ? AND namespace = ? AND name = ?'
    this.#get = database.prepare<string[], Row>(
      `SELECT uid, of_resource, of_namespace, of_name, virtual_uid FROM copies WHERE ${key}`,
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
