import type { KubeObject, ObjectRef } from '#libs/kube-model'
import { asName, asObject } from '../../json.ts'
import type { TenantContext } from '../../view.ts'
import { storageClassOwner } from '../../classes.ts'
import { specOf } from './fields.ts'

const STORAGE_CLASSES = 'storageclasses.storage.k8s.io'

/** What of the tenant a claim may be filled from, by kind. */
export const SOURCES: Readonly<Record<string, string>> = {
  PersistentVolumeClaim: 'persistentvolumeclaims',
  VolumeSnapshot: 'volumesnapshots.snapshot.storage.k8s.io',
}

/** The volumes that the copy and the claim are bound to, and what else of the tenant the claim names. */
export function claimReferences(pair: {
  virtual?: KubeObject | undefined
  host?: KubeObject | undefined
}): ObjectRef[] {
  const names = [pair.host, pair.virtual].flatMap((claim) => asName(specOf(claim).volumeName) ?? [])
  const volumes = [...new Set(names)].map((name) => ({ resource: 'persistentvolumes', namespace: '', name }))
  return pair.virtual === undefined ? volumes : [...volumes, ...classReference(pair.virtual), ...source(pair.virtual)]
}

/** A class is waited for only where one of the tenant's cluster is meant: one of the host's was there before. */
export function requiredClaimReferences(virtual: KubeObject, tenant: TenantContext): ObjectRef[] {
  return storageClassOwner(tenant.config) !== 'tenant' ? [] : classReference(virtual)
}

/** The class that a claim names; an empty name says that it wants none. */
export function classNameOf(claim: KubeObject): string | undefined {
  const annotated = claim.metadata.annotations?.['volume.beta.kubernetes.io/storage-class']
  const name = annotated ?? specOf(claim).storageClassName
  return typeof name === 'string' ? name : undefined
}

function classReference(claim: KubeObject): ObjectRef[] {
  const name = asName(classNameOf(claim))
  return name === undefined ? [] : [{ resource: STORAGE_CLASSES, namespace: '', name }]
}

function source(claim: KubeObject): ObjectRef[] {
  const { dataSourceRef, dataSource } = specOf(claim)
  const { kind, name } = asObject(dataSourceRef) ?? asObject(dataSource) ?? {}
  const resource = SOURCES[asName(kind) ?? '']
  const named = asName(name)
  if (resource === undefined || named === undefined) return []
  return [{ resource, namespace: claim.metadata.namespace ?? '', name: named }]
}
