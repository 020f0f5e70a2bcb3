import { jsonEqual } from '#libs/kernel'
import type { KubeObject } from '#libs/kube-model'
import type { Controller, ControllerContext } from './controller-context.ts'
import { deleteObject } from './delete-object.ts'
import { backendsOf, endpointSubsets, groupByPorts, sliceEndpoint } from './endpoints.ts'
import type { Backend, BackendPort, Service } from './endpoints.ts'
import { randomSuffix } from './generated-name.ts'
import { objectKey, splitKey } from './informer.ts'
import { matchesLabels } from './label-selector.ts'
import { controllerReference } from './owner-references.ts'
import type { Pod } from './pods.ts'
import { createWorkQueue } from './work-queue.ts'

const SLICES = 'endpointslices.discovery.k8s.io'
const SERVICE_NAME = 'kubernetes.io/service-name'
const MANAGED_BY = 'endpointslice.kubernetes.io/managed-by'
const MANAGER = 'endpointslice-controller.k8s.io'
/** Endpoints of one slice at most, as upstream. */
const SLICE_SIZE = 100
/** Gathers the changes of many pods into one write. */
const POD_CHANGE_DELAY_MS = 50

type Slice = KubeObject & { addressType?: string; endpoints?: unknown[]; ports?: unknown[] }

/** Keeps the Endpoints and EndpointSlices of services with a selector. */
export function startEndpointsController(context: ControllerContext): Controller {
  const { api, random } = context
  const services = context.informers.of('services')
  const pods = context.informers.of('pods')
  const slices = context.informers.of(SLICES)
  const queue = createWorkQueue({ name: 'endpoints', reconcile, ...context })

  services.onChange(({ object }) => queue.add(objectKey(object)))
  pods.onChange(({ object, previous, isDeleted }) => {
    if (!isDeleted && previous !== undefined && jsonEqual(traitsOf(object), traitsOf(previous))) return
    for (const service of services.inNamespace(object.metadata.namespace ?? '')) {
      if (selects(service, object) || (previous !== undefined && selects(service, previous))) {
        queue.add(objectKey(service), POD_CHANGE_DELAY_MS)
      }
    }
  })
  slices.onChange(({ object, isDeleted }) => {
    const service = object.metadata.labels?.[SERVICE_NAME]
    if (isDeleted && service !== undefined) queue.add(`${object.metadata.namespace ?? ''}/${service}`)
  })

  function reconcile(key: string): void {
    const { namespace, name } = splitKey(key)
    const service = services.get(namespace, name) as Service | undefined
    if (service === undefined) return deleteEndpoints(namespace, name)
    const selector = service.spec?.selector
    if (selector === undefined || service.spec?.type === 'ExternalName') return undefined
    if (service.metadata.deletionTimestamp !== undefined) return undefined
    if (isNamespaceTerminating(namespace)) return undefined
    const selected = (pods.inNamespace(namespace) as Pod[]).filter((pod) => selects(service, pod))
    const backends = backendsOf(service, selected)
    keepEndpoints(service, backends)
    keepSlices(service, backends)
    return undefined
  }

  function isNamespaceTerminating(namespace: string): boolean {
    return api.get('namespaces', undefined, namespace)?.metadata.deletionTimestamp !== undefined
  }

  /** Slices are collected by their owner reference; Endpoints have none. */
  function deleteEndpoints(namespace: string, name: string): void {
    const endpoints = api.get('endpoints', namespace, name)
    if (endpoints !== undefined) deleteObject(api, 'endpoints', endpoints)
  }

  function keepEndpoints(service: Service, backends: readonly Backend[]): void {
    const { name = '', namespace, labels: ownLabels } = service.metadata
    const subsets = endpointSubsets(backends)
    const labels = {
      ...ownLabels,
      'endpoints.kubernetes.io/managed-by': 'endpoint-controller',
      ...(service.spec?.clusterIP === 'None' ? { 'service.kubernetes.io/headless': '' } : {}),
    }
    const current = api.get('endpoints', namespace, name)
    if (current === undefined) {
      const metadata = { name, ...(namespace === undefined ? {} : { namespace }), labels }
      api.create('endpoints', namespace, { apiVersion: 'v1', kind: 'Endpoints', metadata, subsets })
    } else if (!jsonEqual(current['subsets'] ?? [], subsets) || !jsonEqual(current.metadata.labels, labels)) {
      api.update('endpoints', { ...current, metadata: { ...current.metadata, labels }, subsets })
    }
  }

  function keepSlices(service: Service, backends: readonly Backend[]): void {
    const found = slices.inNamespace(service.metadata.namespace ?? '').filter(isSliceOf(service)) as Slice[]
    const current = found.filter((slice) => isOwnedBy(slice, service))
    // Those of an earlier Service of the name.
    for (const slice of found) if (!current.includes(slice)) deleteObject(api, SLICES, slice)
    const wanted = wantedSlices(backends)
    // Pairing in order rewrites more than upstream's packing does, but never leaves an endpoint in two slices for long.
    for (const [index, content] of wanted.entries()) {
      const slice = current[index]
      if (slice === undefined) {
        slices.observe(api.create(SLICES, service.metadata.namespace, newSlice(service, content)))
      } else if (!jsonEqual(slice.endpoints ?? [], content.endpoints) || !jsonEqual(slice.ports ?? [], content.ports)) {
        slices.observe(api.update(SLICES, { ...slice, ...content }))
      }
    }
    for (const slice of current.slice(wanted.length)) {
      if (slice.metadata.deletionTimestamp === undefined) deleteObject(api, SLICES, slice)
    }
  }

  function newSlice(service: Service, content: SliceContent): Slice {
    const { name = '', namespace, labels } = service.metadata
    return {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: {
        generateName: `${name}-`,
        name: `${name}-${randomSuffix(random)}`,
        ...(namespace === undefined ? {} : { namespace }),
        labels: {
          ...labels,
          [SERVICE_NAME]: name,
          [MANAGED_BY]: MANAGER,
          ...(service.spec?.clusterIP === 'None' ? { 'service.kubernetes.io/headless': '' } : {}),
        },
        ownerReferences: [controllerReference(service, 'v1', 'Service')],
      },
      addressType: 'IPv4',
      ...content,
    }
  }

  return { close: () => queue.close() }
}

type SliceContent = { endpoints: Record<string, unknown>[]; ports: BackendPort[] }

/** At least one slice, also without backends: it says that the service has none. */
function wantedSlices(backends: readonly Backend[]): SliceContent[] {
  const contents = groupByPorts(backends).flatMap(({ ports, backends: members }) => {
    const parts: SliceContent[] = []
    for (let start = 0; start < members.length; start += SLICE_SIZE) {
      parts.push({ endpoints: members.slice(start, start + SLICE_SIZE).map(sliceEndpoint), ports: slicePorts(ports) })
    }
    return parts
  })
  return contents.length > 0 ? contents : [{ endpoints: [], ports: [] }]
}

/** Slices name every port; Endpoints leave an empty name out. */
function slicePorts(ports: readonly BackendPort[]): BackendPort[] {
  return ports.map((port) => ({ ...port, name: port.name ?? '' }))
}

function isSliceOf(service: Service): (slice: KubeObject) => boolean {
  return ({ metadata }) =>
    metadata.labels?.[SERVICE_NAME] === service.metadata.name && metadata.labels?.[MANAGED_BY] === MANAGER
}

function isOwnedBy({ metadata }: KubeObject, owner: KubeObject): boolean {
  return metadata.ownerReferences?.some(({ uid }) => uid === owner.metadata.uid) === true
}

function selects(service: Service, pod: KubeObject): boolean {
  const selector = service.spec?.selector
  return selector !== undefined && Object.keys(selector).length > 0 && matchesLabels(selector, pod.metadata.labels)
}

/** What of a pod endpoints depend on. */
function traitsOf(pod: Pod): unknown {
  return {
    labels: pod.metadata.labels,
    isDeleting: pod.metadata.deletionTimestamp !== undefined,
    ip: pod.status?.podIP,
    phase: pod.status?.phase,
    isReady: pod.status?.conditions?.find(({ type }) => type === 'Ready')?.status,
    node: pod.spec?.nodeName,
  }
}
