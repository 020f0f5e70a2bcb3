import type { Json, JsonObject } from '#libs/kube-model'

import { asObject, asString, ensureObject, isObject, objectsIn, setDefault } from './json-shape.ts'

const RBAC = 'rbac.authorization.k8s.io'

/** Defaults of a PersistentVolumeClaim, also in the templates of StatefulSets. */
export function defaultClaim(claim: JsonObject): void {
  setDefault(ensureObject(claim, 'spec'), 'volumeMode', 'Filesystem')
  setDefault(ensureObject(claim, 'status'), 'phase', 'Pending')
}

function defaultPersistentVolume(volume: JsonObject): void {
  const spec = ensureObject(volume, 'spec')
  setDefault(ensureObject(volume, 'status'), 'phase', 'Pending')
  setDefault(spec, 'persistentVolumeReclaimPolicy', 'Retain')
  setDefault(spec, 'volumeMode', 'Filesystem')
  if (isObject(spec['hostPath'])) setDefault(spec['hostPath'], 'type', '')
}

/** `stringData` is a way to write `data`: it is never stored. */
function defaultSecret(secret: JsonObject): void {
  setDefault(secret, 'type', 'Opaque')
  if (!isObject(secret['stringData'])) return
  const data = ensureObject(secret, 'data')
  for (const [key, text] of Object.entries(secret['stringData'])) {
    data[key] = Buffer.from(asString(text), 'utf8').toString('base64')
  }
  delete secret['stringData']
}

function defaultNamespace(namespace: JsonObject): void {
  const metadata = ensureObject(namespace, 'metadata')
  const name = asString(metadata['name'])
  if (name !== '') ensureObject(metadata, 'labels')['kubernetes.io/metadata.name'] = name
}

/** A node offers what it has, unless it says otherwise. */
function defaultNode(node: JsonObject): void {
  const status = asObject(node['status'])
  if (isObject(status['capacity'])) setDefault(status, 'allocatable', { ...status['capacity'] })
}

function defaultLimitRange(range: JsonObject): void {
  for (const item of objectsIn(asObject(range['spec'])['limits'])) {
    if (item['type'] !== 'Container') continue
    const copyMissing = (from: string, to: string): void => {
      for (const [name, amount] of Object.entries(asObject(item[from]))) {
        setDefault(ensureObject(item, to), name, amount)
      }
    }
    copyMissing('max', 'default')
    copyMissing('default', 'defaultRequest')
    copyMissing('min', 'defaultRequest')
  }
}

function defaultEndpointSlice(slice: JsonObject): void {
  for (const port of objectsIn(slice['ports'])) {
    setDefault(port, 'name', '')
    setDefault(port, 'protocol', 'TCP')
  }
}

function defaultEndpoints(endpoints: JsonObject): void {
  for (const subset of objectsIn(endpoints['subsets'])) {
    for (const port of objectsIn(subset['ports'])) setDefault(port, 'protocol', 'TCP')
  }
}

function defaultNetworkPolicy(policy: JsonObject): void {
  const spec = ensureObject(policy, 'spec')
  for (const rule of [...objectsIn(spec['ingress']), ...objectsIn(spec['egress'])]) {
    for (const port of objectsIn(rule['ports'])) setDefault(port, 'protocol', 'TCP')
  }
  const hasEgress = Array.isArray(spec['egress']) && spec['egress'].length > 0
  setDefault(spec, 'policyTypes', hasEgress ? ['Ingress', 'Egress'] : ['Ingress'])
}

function defaultSubjects(binding: JsonObject): void {
  for (const subject of objectsIn(binding['subjects'])) {
    if (subject['kind'] === 'User' || subject['kind'] === 'Group') setDefault(subject, 'apiGroup', RBAC)
  }
  const roleRef = asObject(binding['roleRef'])
  if (asString(roleRef['apiGroup']) === '') roleRef['apiGroup'] = RBAC
}

const withFields =
  (path: string | undefined, fields: Record<string, Json>) =>
  (object: JsonObject): void => {
    const target = path === undefined ? object : ensureObject(object, path)
    for (const [name, value] of Object.entries(fields)) setDefault(target, name, value)
  }

/** Defaults of kinds that hold configuration. */
export const CONFIG_DEFAULTS: Record<string, (object: JsonObject) => void> = {
  Secret: defaultSecret,
  Namespace: defaultNamespace,
  Node: defaultNode,
  PersistentVolume: defaultPersistentVolume,
  PersistentVolumeClaim: defaultClaim,
  LimitRange: defaultLimitRange,
  Endpoints: defaultEndpoints,
  EndpointSlice: defaultEndpointSlice,
  NetworkPolicy: defaultNetworkPolicy,
  RoleBinding: defaultSubjects,
  ClusterRoleBinding: defaultSubjects,
  StorageClass: withFields(undefined, { reclaimPolicy: 'Delete', volumeBindingMode: 'Immediate' }),
  PriorityClass: withFields(undefined, { preemptionPolicy: 'PreemptLowerPriority' }),
  HorizontalPodAutoscaler: withFields('spec', { minReplicas: 1 }),
  TokenRequest: withFields('spec', { expirationSeconds: 3600 }),
  CSIDriver: withFields('spec', {
    attachRequired: true,
    podInfoOnMount: false,
    storageCapacity: false,
    fsGroupPolicy: 'ReadWriteOnceWithFSType',
    volumeLifecycleModes: ['Persistent'],
    requiresRepublish: false,
    seLinuxMount: false,
  }),
}
