import type { ObjectRef } from '#libs/kube-model'
import type { Database } from './database.ts'

type RefRow = { resource: string; namespace: string; name: string }

/** Who refers to whom among the virtual objects of each tenant. */
export class ReferenceTable {
  readonly #from
  readonly #to
  readonly #tenants
  readonly #targets
  readonly #insert
  readonly #delete

  constructor(database: Database) {
    this.#from = database.prepare<[string, string, string, string], RefRow>(
      `SELECT to_resource AS resource, to_namespace AS namespace, to_name AS name FROM refs
       WHERE tenant = ? AND from_resource = ? AND from_namespace = ? AND from_name = ?`,
    )
    this.#to = database.prepare<[string, string, string, string], RefRow>(
      `SELECT from_resource AS resource, from_namespace AS namespace, from_name AS name FROM refs
       WHERE tenant = ? AND to_resource = ? AND to_namespace = ? AND to_name = ?`,
    )
    this.#tenants = database.prepare<[string, string, string], { tenant: string }>(
      'SELECT DISTINCT tenant FROM refs WHERE to_resource = ? AND to_namespace = ? AND to_name = ?',
    )
    this.#targets = database.prepare<[string, string], RefRow>(
      `SELECT DISTINCT to_resource AS resource, to_namespace AS namespace, to_name AS name FROM refs
       WHERE to_resource = ? AND tenant = ?`,
    )
    this.#insert = database.prepare<string[]>('INSERT OR IGNORE INTO refs VALUES (?, ?, ?, ?, ?, ?, ?)')
    this.#delete = database.prepare<string[]>(
      `DELETE FROM refs WHERE tenant = ? AND from_resource = ? AND from_namespace = ? AND from_name = ?
       AND to_resource = ? AND to_namespace = ? AND to_name = ?`,
    )
  }

  /** What an object refers to. */
  of(tenant: string, from: ObjectRef): ObjectRef[] {
    return this.#from.all(tenant, from.resource, from.namespace, from.name)
  }

  /** Objects that refer to `ref`. */
  usersOf(tenant: string, ref: ObjectRef): ObjectRef[] {
    return this.#to.all(tenant, ref.resource, ref.namespace, ref.name)
  }

  /** Tenants that have an object that refers to `ref`. */
  tenantsUsing(ref: ObjectRef): string[] {
    return this.#tenants.all(ref.resource, ref.namespace, ref.name).map((row) => row.tenant)
  }

  /** Objects of a resource that a tenant's objects refer to, whether or not they are there. */
  targets(tenant: string, resource: string): ObjectRef[] {
    return this.#targets.all(resource, tenant)
  }

  /**
   * Sets what an object refers to.
   * @returns the references that came or went
   */
  replace(tenant: string, from: ObjectRef, refs: readonly ObjectRef[]): ObjectRef[] {
    const before = this.of(tenant, from)
    const known = new Set(before.map(refId))
    const wanted = new Set(refs.map(refId))
    const came = refs.filter(
      (ref, index) => !known.has(refId(ref)) && refs.findIndex((r) => refId(r) === refId(ref)) === index,
    )
    const went = before.filter((ref) => !wanted.has(refId(ref)))
    for (const ref of came) this.#insert.run(...row(tenant, from, ref))
    for (const ref of went) this.#delete.run(...row(tenant, from, ref))
    return [...came, ...went]
  }
}

function row(tenant: string, from: ObjectRef, to: ObjectRef): string[] {
  return [tenant, from.resource, from.namespace, from.name, to.resource, to.namespace, to.name]
}

function refId(ref: ObjectRef): string {
  return `${ref.resource}/${ref.namespace}/${ref.name}`
}
