import type { KubeObject, OwnerReference } from '#libs/kube-model'

/** The owner that manages this object, if one does. */
export function controllerOf(object: KubeObject): OwnerReference | undefined {
  return object.metadata.ownerReferences?.find((reference) => reference.controller === true)
}

/** The reference by which `owner` controls an object. */
export function controllerReference(owner: KubeObject, apiVersion: string, kind: string): OwnerReference {
  return {
    apiVersion,
    kind,
    name: owner.metadata.name ?? '',
    uid: owner.metadata.uid ?? '',
    controller: true,
    blockOwnerDeletion: true,
  }
}

/** The object with one more owner. */
export function withOwner<T extends KubeObject>(object: T, reference: OwnerReference): T {
  const ownerReferences = [...(object.metadata.ownerReferences ?? []), reference]
  return { ...object, metadata: { ...object.metadata, ownerReferences } }
}

/** The object without the owners of these uids. */
export function withoutOwners<T extends KubeObject>(object: T, uids: ReadonlySet<string>): T {
  const ownerReferences = (object.metadata.ownerReferences ?? []).filter((reference) => !uids.has(reference.uid))
  return { ...object, metadata: { ...object.metadata, ownerReferences } }
}
