import type { JsonObject, KubeObject, ObjectRef } from '#libs/kube-model'
import { asName, asObject, objectsIn, textOf } from '../../json.ts'
import { containersOf, projectedSources, specOf } from './fields.ts'

/** A place in a pod's spec that names another object of the pod's namespace. */
export type ReferenceSite = {
  /** The object that holds the name, and the field that it is in. */
  holder: JsonObject
  field: string
  /** Resource token of what is named. */
  resource: string
  /** Whether the pod's containers do not start without it. */
  required: boolean
}

/** Volume sources that name a Secret by an object reference: source, then field. */
const SECRET_REFS = [
  ['csi', 'nodePublishSecretRef'],
  ['iscsi', 'secretRef'],
  ['rbd', 'secretRef'],
  ['cephfs', 'secretRef'],
  ['cinder', 'secretRef'],
  ['flexVolume', 'secretRef'],
  ['scaleIO', 'secretRef'],
  ['storageos', 'secretRef'],
] as const

/**
 * Every place of a pod's spec that names another object: the one list behind both the references of a pod and the
 * translation of their names, so that what is translated is also synced.
 */
export function referenceSites(spec: JsonObject): ReferenceSite[] {
  const sites: ReferenceSite[] = []
  const add = (holder: unknown, field: string, resource: string, required = true): void => {
    const object = asObject(holder)
    if (object === undefined || asName(object[field]) === undefined) return
    sites.push({ holder: object, field, resource, required: required && object.optional !== true })
  }
  for (const volume of objectsIn(spec.volumes)) addVolume(volume, add)
  for (const source of projectedSources(spec)) {
    add(source.configMap, 'name', 'configmaps')
    add(source.secret, 'name', 'secrets')
  }
  for (const container of containersOf(spec)) {
    for (const entry of objectsIn(container.env)) {
      add(asObject(entry.valueFrom)?.configMapKeyRef, 'name', 'configmaps')
      add(asObject(entry.valueFrom)?.secretKeyRef, 'name', 'secrets')
    }
    for (const entry of objectsIn(container.envFrom)) {
      add(entry.configMapRef, 'name', 'configmaps')
      add(entry.secretRef, 'name', 'secrets')
    }
  }
  for (const secret of objectsIn(spec.imagePullSecrets)) add(secret, 'name', 'secrets', false)
  for (const claim of objectsIn(spec.resourceClaims)) {
    add(claim, 'resourceClaimName', 'resourceclaims.resource.k8s.io')
    add(claim, 'resourceClaimTemplateName', 'resourceclaimtemplates.resource.k8s.io')
  }
  return sites
}

function addVolume(
  volume: JsonObject,
  add: (holder: unknown, field: string, resource: string, required?: boolean) => void,
): void {
  add(volume.configMap, 'name', 'configmaps')
  add(volume.secret, 'secretName', 'secrets')
  add(volume.persistentVolumeClaim, 'claimName', 'persistentvolumeclaims')
  add(volume.azureFile, 'secretName', 'secrets')
  add(volume.glusterfs, 'endpoints', 'endpoints')
  for (const [source, field] of SECRET_REFS) add(asObject(volume[source])?.[field], 'name', 'secrets')
}

/** The claim that the tenant's own controller makes for an ephemeral volume, and deletes with the pod. */
export function ephemeralClaim(virtual: KubeObject, volume: JsonObject): string {
  return `${virtual.metadata.name ?? ''}-${textOf(volume.name)}`
}

/** Kinds that cross and that pods refer to. */
const FOLLOWED = new Set(['configmaps', 'secrets', 'persistentvolumeclaims'])

/**
 * What a pod refers to: the ConfigMaps and Secrets it uses, and the node that the host put it on. A node that only the
 * tenant names is none: a tenant would see any host node by naming it.
 */
export function podReferences(pair: { virtual?: KubeObject | undefined; host?: KubeObject | undefined }): ObjectRef[] {
  const references = pair.virtual === undefined ? [] : named(pair.virtual, () => true)
  const node = asName(specOf(pair.host).nodeName)
  return node === undefined ? references : [...references, { resource: 'nodes', namespace: '', name: node }]
}

/** The ConfigMaps and Secrets without which the pod's containers would not start. */
export function requiredPodReferences(virtual: KubeObject): ObjectRef[] {
  return named(virtual, (site) => site.required)
}

function named(virtual: KubeObject, wanted: (site: ReferenceSite) => boolean): ObjectRef[] {
  const references = new Map<string, ObjectRef>()
  const namespace = virtual.metadata.namespace ?? ''
  const add = (resource: string, name: string): void => {
    references.set(`${resource}/${name}`, { resource, namespace, name })
  }
  for (const site of referenceSites(specOf(virtual))) {
    if (FOLLOWED.has(site.resource) && wanted(site)) add(site.resource, textOf(site.holder[site.field]))
  }
  for (const volume of objectsIn(specOf(virtual).volumes)) {
    if (volume.ephemeral !== undefined) add('persistentvolumeclaims', ephemeralClaim(virtual, volume))
  }
  return [...references.values()]
}
