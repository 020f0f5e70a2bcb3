import { jsonEqual } from '#libs/kernel'
import type { JsonObject, KubeObject } from '#libs/kube-model'

import { ApiError } from '../api-error.ts'
import type { FieldProblem } from '../api-error.ts'
import {
  asNumber,
  asObject,
  asString,
  at,
  ensureObject,
  objectsIn,
  setDefault,
  stringsIn,
} from '../schema/json-shape.ts'
import { compareQuantities } from '../schema/quantity.ts'
import { specOf } from './create-strategy.ts'
import { forbidden, immutable, invalid, notSupported, required } from './field-problem.ts'
import { dnsLabelProblems } from './names.ts'
import type { KindRules, StrategyContext } from './strategy.ts'

export const NAMESPACE_RULES: KindRules = {
  nameProblems: dnsLabelProblems,
  prepareCreate: (namespace) => {
    const spec = ensureObject(namespace as JsonObject, 'spec')
    const finalizers = stringsIn(spec['finalizers'])
    spec['finalizers'] = finalizers.includes('kubernetes') ? finalizers : [...finalizers, 'kubernetes']
    namespace['status'] = { phase: 'Active' }
  },
  // Only the finalize subresource changes these.
  prepareUpdate: (next, previous) => {
    const spec = ensureObject(next as JsonObject, 'spec')
    const { finalizers } = specOf(previous)
    if (finalizers === undefined) delete spec['finalizers']
    else spec['finalizers'] = finalizers
  },
}

const NOT_READY = 'node.kubernetes.io/not-ready'

export const NODE_RULES: KindRules = {
  keepsStatusOnCreate: true,
  // Nothing may run on a node before somebody has found it to be ready.
  prepareCreate: (node) => {
    const spec = ensureObject(node as JsonObject, 'spec')
    const taints = objectsIn(spec['taints'])
    const isTainted = taints.some(({ key, effect }) => key === NOT_READY && effect === 'NoSchedule')
    if (!isTainted) spec['taints'] = [...taints, { key: NOT_READY, effect: 'NoSchedule' }]
  },
  validateUpdate: (next, previous) => {
    const before = stringsIn(specOf(previous)['podCIDRs'])
    const problems: FieldProblem[] = []
    const cidr = asString(specOf(previous)['podCIDR'])
    if (before.length > 0 && cidr !== '' && specOf(next)['podCIDR'] !== cidr) {
      const detail = 'node updates may not change podCIDR except from "" to valid'
      problems.push(forbidden('spec.podCIDRs', detail))
    }
    const provider = asString(specOf(previous)['providerID'])
    if (provider !== '' && specOf(next)['providerID'] !== provider) {
      problems.push(forbidden('spec.providerID', 'node updates may not change providerID except from "" to valid'))
    }
    return problems
  },
}

const VOLUME_FIELDS = new Set([
  'accessModes',
  'capacity',
  'claimRef',
  'mountOptions',
  'nodeAffinity',
  'persistentVolumeReclaimPolicy',
  'storageClassName',
  'volumeAttributesClassName',
  'volumeMode',
])

const sourceOf = (volume: KubeObject): JsonObject =>
  Object.fromEntries(Object.entries(specOf(volume)).filter(([name]) => !VOLUME_FIELDS.has(name)))

function addFinalizer(object: KubeObject, finalizer: string): void {
  const finalizers = object.metadata.finalizers ?? []
  if (!finalizers.includes(finalizer)) object.metadata.finalizers = [...finalizers, finalizer]
}

export const PERSISTENT_VOLUME_RULES: KindRules = {
  prepareCreate: (volume, { now }) => {
    volume['status'] = { phase: 'Pending', lastPhaseTransitionTime: now }
    addFinalizer(volume, 'kubernetes.io/pv-protection')
  },
  validate: (volume) => {
    const spec = specOf(volume)
    const problems: FieldProblem[] = []
    if (stringsIn(spec['accessModes']).length === 0) problems.push(required('spec.accessModes'))
    const capacity = asObject(spec['capacity'])
    if (Object.keys(capacity).length === 0) problems.push(required('spec.capacity'))
    if (capacity['storage'] === undefined) {
      problems.push(notSupported('spec.capacity', spec['capacity'] ?? null, ['storage']))
    }
    if (Object.keys(sourceOf(volume)).length === 0) problems.push(required('spec', 'must specify a volume type'))
    return problems
  },
  validateUpdate: (next, previous) =>
    jsonEqual(sourceOf(next), sourceOf(previous))
      ? []
      : [forbidden('spec.persistentvolumesource', 'spec.persistentvolumesource is immutable after creation')],
}

const sizeOf = (claim: KubeObject): string => asString(at(specOf(claim), 'resources', 'requests', 'storage'))

/** Admission: a claim grows only where its class says that volumes can. */
function refuseExpansion(next: KubeObject, previous: KubeObject, context: StrategyContext): void {
  if (compareQuantities(sizeOf(next), sizeOf(previous)) <= 0) return
  const storageClass = context.storageClass?.(asString(specOf(previous)['storageClassName']))
  if (storageClass?.['allowVolumeExpansion'] === true) return
  throw ApiError.forbidden(
    { group: '', plural: 'persistentvolumeclaims' },
    next.metadata.name ?? '',
    'only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize',
  )
}

const CLAIM_CHANGE =
  'spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims'

export const CLAIM_RULES: KindRules = {
  prepareCreate: (claim, context) => {
    claim['status'] = { phase: 'Pending' }
    const spec = ensureObject(claim as JsonObject, 'spec')
    const name = context.storageClass?.()?.metadata.name
    if (name !== undefined) setDefault(spec, 'storageClassName', name)
    addFinalizer(claim, 'kubernetes.io/pvc-protection')
  },
  prepareUpdate: refuseExpansion,
  validate: (claim) => {
    const spec = specOf(claim)
    const problems: FieldProblem[] = []
    if (stringsIn(spec['accessModes']).length === 0) {
      problems.push(required('spec.accessModes', 'at least 1 access mode is required'))
    }
    if (at(spec, 'resources', 'requests', 'storage') === undefined) problems.push(required('spec.resources[storage]'))
    return problems
  },
  validateUpdate: (next, previous) => {
    const spec = specOf(next)
    const before = specOf(previous)
    const munged = { ...spec }
    // The binder names the volume of an unbound claim once.
    if (asString(before['volumeName']) === '') delete munged['volumeName']
    if (before['storageClassName'] === undefined) delete munged['storageClassName']
    for (const name of ['resources', 'volumeAttributesClassName']) {
      if (before[name] === undefined) delete munged[name]
      else munged[name] = before[name]
    }
    if (!jsonEqual(munged, before)) return [forbidden('spec', CLAIM_CHANGE)]
    const size = sizeOf(next)
    const capacity = asString(at(previous, 'status', 'capacity', 'storage'))
    if (compareQuantities(size, sizeOf(previous)) < 0) {
      if (capacity !== '' && compareQuantities(size, capacity) <= 0) {
        return [forbidden('spec.resources.requests.storage', 'field can not be less than status.capacity')]
      }
    }
    return []
  },
}

export const STORAGE_CLASS_RULES: KindRules = {
  validate: (object) => (asString(object['provisioner']) === '' ? [required('provisioner')] : []),
  validateUpdate: (next, previous) =>
    ['parameters', 'provisioner', 'reclaimPolicy', 'volumeBindingMode']
      .filter((name) => !jsonEqual(next[name] ?? {}, previous[name] ?? {}))
      .map((name) => immutable(name, next[name] ?? null)),
}

export const PRIORITY_CLASS_RULES: KindRules = {
  hasGeneration: true,
  validate: (object) => {
    const value = asNumber(object['value'])
    const isSystem = (object.metadata.name ?? '').startsWith('system-')
    if (isSystem || value <= 1_000_000_000) return []
    return [forbidden('value', 'maximum allowed value of a user defined priority is 1000000000')]
  },
  validateUpdate: (next, previous) => [
    ...(next['value'] === previous['value'] ? [] : [forbidden('value', 'may not be changed in an update.')]),
    ...(next['preemptionPolicy'] === previous['preemptionPolicy']
      ? []
      : [immutable('preemptionPolicy', next['preemptionPolicy'])]),
  ],
}

export const LEASE_RULES: KindRules = {
  validate: (lease) => {
    const problems: FieldProblem[] = []
    for (const [name, least] of [
      ['leaseDurationSeconds', 1],
      ['leaseTransitions', 0],
    ] as const) {
      const value = specOf(lease)[name]
      if (typeof value !== 'number' || value >= least) continue
      const detail = least === 0 ? 'must be greater than or equal to 0' : 'must be greater than 0'
      problems.push(invalid(`spec.${name}`, value, detail))
    }
    return problems
  },
}

export const EVENT_RULES: KindRules = {
  validate: (event) => {
    const namespace = asString(at(event, 'involvedObject', 'namespace'))
    const own = event.metadata.namespace ?? ''
    const isSound = namespace === '' ? own === 'default' || own === '' : namespace === own
    if (isSound) return []
    return [invalid('involvedObject.namespace', namespace, 'does not match event.namespace')]
  },
}
