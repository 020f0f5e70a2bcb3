import type { KubeObject, ObjectRef, Side } from '#libs/kube-model'
import type { Related } from '../view.ts'

/** Other objects of a tenant, held in memory: plain lists, with users told by whoever makes it. */
export function memoryRelated(
  content: {
    virtual?: { ref: ObjectRef; object: KubeObject }[]
    host?: { ref: ObjectRef; object: KubeObject }[]
    users?: { of: ObjectRef; by: ObjectRef[] }[]
    synced?: boolean
  } = {},
): Related {
  const find = (side: Side, ref: ObjectRef): KubeObject | undefined =>
    (content[side] ?? []).find((entry) => isSame(entry.ref, ref))?.object
  return {
    virtual: (ref) => find('virtual', ref),
    virtualIn: (resource, namespace) =>
      (content.virtual ?? [])
        .filter(({ ref }) => ref.resource === resource && ref.namespace === namespace)
        .map(({ object }) => object),
    host: (ref) => find('host', ref),
    hostIn: (resource, namespace) =>
      (content.host ?? [])
        .filter(({ ref }) => ref.resource === resource && ref.namespace === namespace)
        .map(({ object }) => object),
    usersOf: (ref) => (content.users ?? []).find(({ of }) => isSame(of, ref))?.by ?? [],
    synced: () => content.synced ?? true,
  }
}

function isSame(a: ObjectRef, b: ObjectRef): boolean {
  return a.resource === b.resource && a.namespace === b.namespace && a.name === b.name
}
