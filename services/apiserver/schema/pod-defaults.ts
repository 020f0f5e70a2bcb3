import type { JsonObject } from '#libs/kube-model'

import { asObject, asString, ensureObject, isObject, objectsIn, setDefault } from './json-shape.ts'

/** Defaults of a Pod: those of its spec, and those that templates do not get. */
export function defaultPod(pod: JsonObject): void {
  const spec = ensureObject(pod, 'spec')
  setDefault(spec, 'enableServiceLinks', true)
  for (const container of [...objectsIn(spec['initContainers']), ...objectsIn(spec['containers'])]) {
    defaultRequests(container)
    if (spec['hostNetwork'] === true) defaultHostPorts(container)
  }
  defaultPodSpec(spec)
}

/** Defaults of a pod's spec, also in the templates of workloads. */
export function defaultPodSpec(spec: JsonObject): void {
  setDefault(spec, 'restartPolicy', 'Always')
  setDefault(spec, 'terminationGracePeriodSeconds', 30)
  setDefault(spec, 'dnsPolicy', 'ClusterFirst')
  setDefault(spec, 'securityContext', {})
  setDefault(spec, 'schedulerName', 'default-scheduler')
  // Two names of one field.
  const account = asString(spec['serviceAccountName']) || asString(spec['serviceAccount'])
  if (account !== '') {
    spec['serviceAccountName'] = account
    spec['serviceAccount'] = account
  }
  for (const list of ['initContainers', 'containers', 'ephemeralContainers']) {
    for (const container of objectsIn(spec[list])) defaultContainer(container)
  }
  for (const volume of objectsIn(spec['volumes'])) defaultVolume(volume)
}

function defaultRequests(container: JsonObject): void {
  const resources = asObject(container['resources'])
  const limits = asObject(resources['limits'])
  for (const [name, amount] of Object.entries(limits)) setDefault(ensureObject(resources, 'requests'), name, amount)
}

function defaultHostPorts(container: JsonObject): void {
  for (const port of objectsIn(container['ports'])) setDefault(port, 'hostPort', port['containerPort'] ?? 0)
}

function defaultContainer(container: JsonObject): void {
  setDefault(container, 'terminationMessagePath', '/dev/termination-log')
  setDefault(container, 'terminationMessagePolicy', 'File')
  setDefault(container, 'imagePullPolicy', pullPolicy(asString(container['image'])))
  for (const name of ['livenessProbe', 'readinessProbe', 'startupProbe']) {
    const probe = container[name]
    if (isObject(probe)) defaultProbe(probe)
  }
  for (const name of ['postStart', 'preStop']) defaultHandler(asObject(asObject(container['lifecycle'])[name]))
  for (const variable of objectsIn(container['env'])) {
    const fieldRef = asObject(variable['valueFrom'])['fieldRef']
    if (isObject(fieldRef)) setDefault(fieldRef, 'apiVersion', 'v1')
  }
}

/** `Always` for images named by the tag `latest` or by none. */
function pullPolicy(image: string): string {
  if (image.includes('@')) return 'IfNotPresent'
  const lastPart = image.slice(image.lastIndexOf('/') + 1)
  const colon = lastPart.indexOf(':')
  return colon === -1 || lastPart.slice(colon + 1) === 'latest' ? 'Always' : 'IfNotPresent'
}

function defaultProbe(probe: JsonObject): void {
  setDefault(probe, 'timeoutSeconds', 1)
  setDefault(probe, 'periodSeconds', 10)
  setDefault(probe, 'successThreshold', 1)
  setDefault(probe, 'failureThreshold', 3)
  defaultHandler(probe)
}

function defaultHandler(handler: JsonObject): void {
  const get = handler['httpGet']
  if (!isObject(get)) return
  setDefault(get, 'path', '/')
  setDefault(get, 'scheme', 'HTTP')
}

const FILE_MODE = 0o644

/** Defaults of a volume's source; a volume without a source is an empty directory. */
function defaultVolume(volume: JsonObject): void {
  if (Object.keys(volume).every((key) => key === 'name')) volume['emptyDir'] = {}
  for (const source of ['secret', 'configMap', 'downwardAPI', 'projected']) {
    const value = volume[source]
    if (isObject(value)) setDefault(value, 'defaultMode', FILE_MODE)
  }
  defaultDownwardItems(asObject(volume['downwardAPI']))
  for (const source of objectsIn(asObject(volume['projected'])['sources'])) {
    const token = source['serviceAccountToken']
    if (isObject(token)) setDefault(token, 'expirationSeconds', 3600)
    defaultDownwardItems(asObject(source['downwardAPI']))
  }
  const hostPath = volume['hostPath']
  if (isObject(hostPath)) setDefault(hostPath, 'type', '')
  const claim = asObject(asObject(volume['ephemeral'])['volumeClaimTemplate'])['spec']
  if (isObject(claim)) setDefault(claim, 'volumeMode', 'Filesystem')
}

function defaultDownwardItems(source: JsonObject): void {
  for (const item of objectsIn(source['items'])) {
    const fieldRef = item['fieldRef']
    if (isObject(fieldRef)) setDefault(fieldRef, 'apiVersion', 'v1')
  }
}
