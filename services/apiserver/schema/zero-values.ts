/*
 * The API's published schema does not say which optional fields keep a zero value (pointers upstream) and which drop
 * it. Strings mostly drop the empty one; booleans and numbers mostly keep theirs. These are the exceptions.
 */

const KEPT_STRINGS = new Set([
  'storageClassName',
  'volumeMode',
  'ingressClassName',
  'loadBalancerClass',
  'appProtocol',
  'runtimeClassName',
  'trafficDistribution',
  'holderIdentity',
  'volumeAttributesClassName',
  'hostnameOverride',
  'apiGroup',
])

/** Names that are strings of the kept sort in one type only. */
const KEPT_IN_TYPE = new Set(['HostPathVolumeSource.type', 'EndpointPort.name', 'PodDNSConfigOption.value'])

const DROPPED_BOOLEANS = new Set([
  'readOnly',
  'stdin',
  'stdinOnce',
  'tty',
  'chapAuthDiscovery',
  'chapAuthSession',
  'unschedulable',
  'hostIPC',
  'hostNetwork',
  'hostPID',
  'publishNotReadyAddresses',
  'sslEnabled',
  'paused',
  'deprecated',
  'preserveUnknownFields',
])

const DROPPED_NUMBERS = new Set([
  'generation',
  'observedGeneration',
  'minReadySeconds',
  'availableReplicas',
  'readyReplicas',
  'unavailableReplicas',
  'updatedReplicas',
  'currentReplicas',
  'fullyLabeledReplicas',
  'numberAvailable',
  'numberUnavailable',
  'updatedNumberScheduled',
  'active',
  'failed',
  'succeeded',
  'hostPort',
  'nodePort',
  'healthCheckNodePort',
  'initialDelaySeconds',
  'timeoutSeconds',
  'periodSeconds',
  'successThreshold',
  'failureThreshold',
  'sizeBytes',
  'signal',
  'count',
])

/** Whether an optional field is left out when its value is `''`, `0` or `false`. */
export function dropsZero(typeShortName: string, field: string, value: string | number | boolean): boolean {
  if (typeof value === 'string') return !KEPT_STRINGS.has(field) && !KEPT_IN_TYPE.has(`${typeShortName}.${field}`)
  if (typeof value === 'boolean') return DROPPED_BOOLEANS.has(field) && typeShortName !== 'AzureDiskVolumeSource'
  if (field === 'replicas') return typeShortName.endsWith('Status')
  return DROPPED_NUMBERS.has(field)
}

/** Fields that are left out when empty although the schema gives them an empty default. */
const NEVER_FILLED = new Set([
  'ConfigMapEnvSource.name',
  'ConfigMapKeySelector.name',
  'ConfigMapProjection.name',
  'ConfigMapVolumeSource.name',
  'FileKeySelector.optional',
  'LocalObjectReference.name',
  'NodeRuntimeHandler.name',
  'SecretEnvSource.name',
  'SecretKeySelector.name',
  'SecretProjection.name',
])

/** Whether a missing field with a schema default of zero is stored and shown with it. */
export function fillsZero(typeShortName: string, field: string): boolean {
  return !NEVER_FILLED.has(`${typeShortName}.${field}`)
}

const TIMED_TYPES = new Set(['ContainerStateRunning', 'ContainerStateTerminated', 'Event'])
const TIMES = new Set([
  'lastProbeTime',
  'lastTransitionTime',
  'lastUpdateTime',
  'lastHeartbeatTime',
  'startedAt',
  'finishedAt',
  'firstTimestamp',
  'lastTimestamp',
  'eventTime',
])

/** Whether a missing time is shown as null: those of conditions, container states and events. */
export function showsNullTime(typeShortName: string, field: string): boolean {
  return TIMES.has(field) && (typeShortName.endsWith('Condition') || TIMED_TYPES.has(typeShortName))
}
