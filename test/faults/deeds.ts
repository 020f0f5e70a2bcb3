import type { ApiObject } from './api-request.ts'
import { usedBy } from './fields.ts'
import type { WorkRef } from './workload.ts'

/** What is known of an object that a tenant made. */
export type Deed = {
  tenant: string
  ref: WorkRef
  /** When the API had answered. */
  createdAt: number
  /** Before the first request to delete it; Infinity while nobody has asked. */
  deletionAt: number
  /** ConfigMaps, Secrets and claims that a pod uses, as `kind namespace/name`. */
  uses: string[]
}

/** Everything that tenants made, by uid. */
export class Deeds {
  readonly byUid = new Map<string, Deed>()

  created(tenant: string, ref: WorkRef, object: ApiObject, at: number): void {
    const uses = ref.kind === 'pods' ? usedBy(object) : []
    this.byUid.set(object.metadata.uid ?? '', { tenant, ref, createdAt: at, deletionAt: Infinity, uses })
  }

  deleting(uid: string, at: number): void {
    const deed = this.byUid.get(uid)
    if (deed !== undefined) deed.deletionAt = Math.min(deed.deletionAt, at)
  }

  /** What must still be there, with words for it. */
  alive(): Map<string, string> {
    const alive = [...this.byUid].filter(([, { deletionAt }]) => deletionAt === Infinity)
    return new Map(
      alive.map(([uid, { tenant, ref }]) => [uid, `${tenant}: ${ref.kind} ${ref.namespace}/${ref.name} (${uid})`]),
    )
  }
}
