import type { KubeObject } from '#libs/kube-model'

import { asNumber, asObject, asString, at, objectsIn, stringsIn } from '../schema/json-shape.ts'
import { ageOf } from './age.ts'
import { conditionsOf, NONE, orNone } from './cell.ts'
import type { Cells } from './cell.ts'

const nameOf = (object: KubeObject): string => object.metadata.name ?? ''
const ageCell = (object: KubeObject, nowMs: number): string => ageOf(object.metadata.creationTimestamp, nowMs)
const entries = (value: unknown): number => Object.keys(asObject(value)).length

const ROLE_PREFIX = 'node-role.kubernetes.io/'

const node: Cells = (object, nowMs) => {
  const ready = conditionsOf(object).get('Ready')
  const states = [ready === undefined ? 'Unknown' : ready['status'] === 'True' ? 'Ready' : 'NotReady']
  if (at(object, 'spec', 'unschedulable') === true) states.push('SchedulingDisabled')
  const labels = object.metadata.labels ?? {}
  const roles = Object.entries(labels).flatMap(([key, value]) => {
    if (key.startsWith(ROLE_PREFIX) && key.length > ROLE_PREFIX.length) return [key.slice(ROLE_PREFIX.length)]
    return key === 'kubernetes.io/role' && value !== '' ? [value] : []
  })
  const address = (type: string): string => {
    const found = objectsIn(at(object, 'status', 'addresses')).find((candidate) => candidate['type'] === type)
    return orNone(asString(found?.['address']))
  }
  const info = (name: string): string => asString(at(object, 'status', 'nodeInfo', name)) || '<unknown>'
  const architecture = asString(at(object, 'status', 'nodeInfo', 'architecture'))
  return [
    nameOf(object),
    states.join(','),
    orNone(roles.sort().join(',')),
    ageCell(object, nowMs),
    asString(at(object, 'status', 'nodeInfo', 'kubeletVersion')),
    address('InternalIP'),
    address('ExternalIP'),
    info('osImage'),
    `${info('kernelVersion')}${architecture === '' ? '' : ` (${architecture})`}`,
    info('containerRuntimeVersion'),
  ]
}

const ACCESS_MODES: Record<string, string> = {
  ReadWriteOnce: 'RWO',
  ReadOnlyMany: 'ROX',
  ReadWriteMany: 'RWX',
  ReadWriteOncePod: 'RWOP',
}

const modesText = (modes: unknown): string =>
  Object.keys(ACCESS_MODES)
    .filter((mode) => stringsIn(modes).includes(mode))
    .map((mode) => ACCESS_MODES[mode])
    .join(',')

const unset = (value: unknown): string => asString(value) || '<unset>'

const claim: Cells = (object, nowMs) => {
  const volume = asString(at(object, 'spec', 'volumeName'))
  const isDeleted = object.metadata.deletionTimestamp !== undefined
  return [
    nameOf(object),
    isDeleted ? 'Terminating' : asString(at(object, 'status', 'phase')),
    volume,
    volume === '' ? '' : asString(at(object, 'status', 'capacity', 'storage')),
    volume === '' ? '' : modesText(at(object, 'status', 'accessModes')),
    asString(at(object, 'spec', 'storageClassName')),
    unset(at(object, 'spec', 'volumeAttributesClassName')),
    ageCell(object, nowMs),
    unset(at(object, 'spec', 'volumeMode')),
  ]
}

const volume: Cells = (object, nowMs) => {
  const claimName = asString(at(object, 'spec', 'claimRef', 'name'))
  const isDeleted = object.metadata.deletionTimestamp !== undefined
  return [
    nameOf(object),
    asString(at(object, 'spec', 'capacity', 'storage')),
    modesText(at(object, 'spec', 'accessModes')),
    asString(at(object, 'spec', 'persistentVolumeReclaimPolicy')),
    isDeleted ? 'Terminating' : asString(at(object, 'status', 'phase')),
    claimName === '' ? '' : `${asString(at(object, 'spec', 'claimRef', 'namespace'))}/${claimName}`,
    asString(at(object, 'spec', 'storageClassName')),
    unset(at(object, 'spec', 'volumeAttributesClassName')),
    asString(at(object, 'status', 'reason')),
    ageCell(object, nowMs),
    unset(at(object, 'spec', 'volumeMode')),
  ]
}

const event: Cells = (object, nowMs) => {
  const subject = at(object, 'involvedObject') ?? at(object, 'regarding')
  const series = asObject(object['series'])
  const first = object['firstTimestamp'] ?? object['deprecatedFirstTimestamp'] ?? object['eventTime']
  const last = series['lastObservedTime'] ?? object['lastTimestamp'] ?? object['deprecatedLastTimestamp'] ?? first
  const source = object['source'] ?? object['deprecatedSource']
  const component =
    asString(at(source, 'component')) || asString(object['reportingComponent'] ?? object['reportingController'])
  const host = asString(at(source, 'host')) || asString(object['reportingInstance'])
  const count = asNumber(series['count'] ?? object['count'] ?? object['deprecatedCount'], 1)
  const name = asString(at(subject, 'name'))
  const kind = asString(at(subject, 'kind')).toLowerCase()
  return [
    ageOf(last ?? object.metadata.creationTimestamp, nowMs),
    asString(object['type']),
    asString(object['reason']),
    name === '' ? kind : `${kind}/${name}`,
    asString(at(subject, 'fieldPath')),
    [component, host].filter((part) => part !== '').join(', '),
    (asString(object['message']) || asString(object['note'])).trim(),
    ageOf(first ?? object.metadata.creationTimestamp, nowMs),
    count,
    nameOf(object),
  ]
}

const quota: Cells = (object, nowMs) => {
  const used = asObject(at(object, 'status', 'used'))
  const cell = (isWanted: (name: string) => boolean): string =>
    Object.entries(asObject(at(object, 'status', 'hard')))
      .filter(([name]) => isWanted(name))
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, hard]) => `${name}: ${asString(used[name]) || '0'}/${asString(hard)}`)
      .join(', ')
  const isLimit = (name: string): boolean => name.startsWith('limits')
  return [nameOf(object), cell((name) => !isLimit(name)), cell(isLimit), ageCell(object, nowMs)]
}

const storageClass: Cells = (object, nowMs) => {
  const isDefault = object.metadata.annotations?.['storageclass.kubernetes.io/is-default-class'] === 'true'
  return [
    `${nameOf(object)}${isDefault ? ' (default)' : ''}`,
    asString(object['provisioner']),
    asString(object['reclaimPolicy']),
    asString(object['volumeBindingMode']),
    object['allowVolumeExpansion'] === true,
    ageCell(object, nowMs),
  ]
}

const controllerRevision: Cells = (object, nowMs) => {
  const owner = object.metadata.ownerReferences?.find(({ controller }) => controller === true)
  const [group = ''] = (owner?.apiVersion ?? '').split('/')
  const title = owner === undefined ? NONE : `${owner.kind.toLowerCase()}.${group}/${owner.name}`
  return [nameOf(object), title, asNumber(object['revision']), ageCell(object, nowMs)]
}

/** Cells of kinds about the cluster and its configuration, by resource token. */
export const CLUSTER_CELLS: Record<string, Cells> = {
  nodes: node,
  namespaces: (object, nowMs) => [nameOf(object), asString(at(object, 'status', 'phase')), ageCell(object, nowMs)],
  configmaps: (object, nowMs) => [
    nameOf(object),
    entries(object['data']) + entries(object['binaryData']),
    ageCell(object, nowMs),
  ],
  secrets: (object, nowMs) => [
    nameOf(object),
    asString(object['type']),
    entries(object['data']),
    ageCell(object, nowMs),
  ],
  persistentvolumeclaims: claim,
  persistentvolumes: volume,
  events: event,
  'events.events.k8s.io': event,
  resourcequotas: quota,
  'storageclasses.storage.k8s.io': storageClass,
  'controllerrevisions.apps': controllerRevision,
  'priorityclasses.scheduling.k8s.io': (object, nowMs) => [
    nameOf(object),
    asNumber(object['value']),
    object['globalDefault'] === true,
    ageCell(object, nowMs),
    asString(object['preemptionPolicy']),
  ],
  'runtimeclasses.node.k8s.io': (object, nowMs) => [
    nameOf(object),
    asString(object['handler']),
    ageCell(object, nowMs),
  ],
}
