import { describe, expect, test } from 'vitest'
import type { JsonObject, KubeObject, ObjectRef } from '#libs/kube-model'
import { parseTenantConfig } from '#libs/sync-config'
import type { Decision } from './decision.ts'
import { decideFor, kindFor } from './registry.ts'
import { TENANT, memoryRelated, objectOf, podOf } from './testing/index.ts'

const on = { enabled: true }
const { config, problems } = parseTenantConfig({
  sync: {
    toHost: {
      ingresses: on,
      podDisruptionBudgets: on,
      persistentVolumes: on,
      volumeSnapshots: on,
      volumeSnapshotContents: on,
      resourceClaims: on,
      gatewayApi: on,
      customResources: { 'widgets.example.com': on },
    },
  },
  policies: { podSecurityStandard: 'privileged' },
})
if (config === undefined) throw new Error(JSON.stringify(problems))
const tenant = { ...TENANT, config }

const definition: KubeObject = {
  metadata: { name: 'widgets.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { kind: 'Widget', plural: 'widgets' },
    versions: [{ name: 'v1', served: true, storage: true, subresources: { status: {} } }],
  },
  status: { conditions: [{ type: 'Established', status: 'True' }] },
}
const definitionRef: ObjectRef = {
  resource: 'customresourcedefinitions.apiextensions.k8s.io',
  namespace: '',
  name: 'widgets.example.com',
}
const related = memoryRelated({
  host: [{ ref: definitionRef, object: definition }],
  virtual: [
    { ref: definitionRef, object: definition },
    {
      ref: { resource: 'gatewayclasses.gateway.networking.k8s.io', namespace: '', name: 'c' },
      object: { metadata: { name: 'c', labels: { 'causeway.dev/mirror': 'true' } } },
    },
  ],
})

const address = (ip: string): JsonObject => ({ loadBalancer: { ingress: [{ ip }] } })
const condition = (status: string): JsonObject => ({
  conditions: [{ type: 'Accepted', status, reason: 'R', message: '' }],
})
const clusterScoped = (object: KubeObject): KubeObject => {
  const { namespace: _, ...metadata } = object.metadata
  return { ...object, metadata }
}

type Case = { object: KubeObject; host: [JsonObject, JsonObject]; tenants: JsonObject }
const cases: Record<string, Case> = {
  services: {
    object: objectOf('Service', 'o', { spec: { type: 'LoadBalancer', ports: [{ port: 80 }] } }),
    host: [address('203.0.113.1'), address('203.0.113.2')],
    tenants: address('192.168.0.1'),
  },
  'ingresses.networking.k8s.io': {
    object: objectOf('Ingress', 'o', { spec: { rules: [] } }),
    host: [address('203.0.113.1'), address('203.0.113.2')],
    tenants: address('192.168.0.1'),
  },
  persistentvolumeclaims: {
    object: objectOf('PersistentVolumeClaim', 'o', { spec: { accessModes: ['ReadWriteOnce'] } }),
    host: [{ phase: 'Pending' }, { phase: 'Lost' }],
    tenants: { phase: 'Pending', conditions: [{ type: 'Unused', status: 'True' }] },
  },
  persistentvolumes: {
    object: clusterScoped(
      objectOf('PersistentVolume', 'o', { spec: { capacity: { storage: '1Gi' }, nfs: { path: '/' } } }),
    ),
    host: [{ phase: 'Available' }, { phase: 'Bound' }],
    tenants: { phase: 'Released' },
  },
  'poddisruptionbudgets.policy': {
    object: objectOf('PodDisruptionBudget', 'o', { spec: { selector: { matchLabels: { a: 'b' } } } }),
    host: [
      { observedGeneration: 1, expectedPods: 0 },
      { observedGeneration: 1, expectedPods: 1 },
    ],
    tenants: { observedGeneration: 1, expectedPods: 3 },
  },
  'volumesnapshots.snapshot.storage.k8s.io': {
    object: objectOf('VolumeSnapshot', 'o', { spec: { source: { persistentVolumeClaimName: 'c' } } }),
    host: [{ readyToUse: false }, { readyToUse: true }],
    tenants: { readyToUse: false, error: { message: 'no driver' } },
  },
  'volumesnapshotcontents.snapshot.storage.k8s.io': {
    object: clusterScoped(
      objectOf('VolumeSnapshotContent', 'o', {
        spec: { driver: 'd', source: { snapshotHandle: 'h' }, volumeSnapshotRef: { namespace: 'default', name: 's' } },
      }),
    ),
    host: [{ readyToUse: false }, { readyToUse: true }],
    tenants: { readyToUse: false, error: { message: 'no driver' } },
  },
  'resourceclaims.resource.k8s.io': {
    object: objectOf('ResourceClaim', 'o', { spec: { devices: {} } }),
    host: [{ allocation: { node: 'a' } }, { allocation: { node: 'b' } }],
    tenants: { allocation: { node: 'mine' } },
  },
  'gateways.gateway.networking.k8s.io': {
    object: objectOf('Gateway', 'o', { spec: { gatewayClassName: 'c', listeners: [] } }),
    host: [condition('Unknown'), condition('True')],
    tenants: condition('False'),
  },
  'widgets.example.com': {
    object: { ...objectOf('Widget', 'o', { spec: { size: 1 } }), apiVersion: 'example.com/v1' },
    host: [{ ready: false }, { ready: true }],
    tenants: { ready: 'never' },
  },
}

/** A pair that agrees but for its status, and what is decided about it as the statuses change. */
class StatusPair {
  readonly resource: string
  readonly #object: KubeObject
  readonly #copy: KubeObject
  base: JsonObject
  uid = 'v'

  constructor(resource: string, object: KubeObject) {
    this.resource = resource
    this.#object = object
    const made = kindFor(resource)?.toHost({ virtual: this.#virtual({}), tenant, related })
    if (made?.kind !== 'object') throw new Error(`no copy: ${JSON.stringify(made)}`)
    this.#copy = { ...made.object, metadata: { ...made.object.metadata, uid: 'h', generation: 1 } }
    this.base = made.base ?? {}
  }

  /** Carries out what is decided. @returns the status that the tenant is shown, or why it is not */
  show(statuses: { tenants: JsonObject; host: JsonObject }): JsonObject | string | undefined {
    for (const decision of this.#decide(statuses)) {
      if (decision.kind === 'reject') return decision.reason
      if (decision.kind !== 'write' || decision.write.op !== 'patch') continue
      if (decision.base !== undefined) this.base = decision.base
      if (decision.rule === 'statusBack' && !Array.isArray(decision.write.body)) return decision.write.body
    }
    return undefined
  }

  #decide({ tenants, host }: { tenants: JsonObject; host: JsonObject }): Decision[] {
    const { name = '', namespace = '' } = this.#object.metadata
    return decideFor({
      tenant,
      key: { resource: this.resource, namespace, name },
      virtual: { seq: 1, object: this.#virtual(tenants) },
      host: { seq: 2, object: { ...this.#copy, ...(Object.keys(host).length === 0 ? {} : { status: host }) } },
      related,
      waitedMs: 0,
      base: this.base,
    })
  }

  #virtual(status: JsonObject): KubeObject {
    const metadata = { ...this.#object.metadata, uid: this.uid, generation: 1 }
    return { ...this.#object, metadata, ...(Object.keys(status).length === 0 ? {} : { status }) }
  }
}

describe.each(Object.entries(cases))('the status of %s', (resource, { object, host: [first, second], tenants }) => {
  test('is shown once for each state of the host’s, and what a controller of the tenant’s makes of it stays', () => {
    const pair = new StatusPair(resource, object)
    expect(pair.show({ tenants: {}, host: first })).toEqual({ status: first })
    expect(pair.show({ tenants: first, host: first })).toBeUndefined()
    expect(pair.show({ tenants, host: first })).toBeUndefined()
    expect(pair.show({ tenants, host: second })).toMatchObject({ status: expect.any(Object) })
    expect(pair.show({ tenants, host: second })).toBeUndefined()
  })

  test('is shown again where the host goes back to a state', () => {
    const pair = new StatusPair(resource, object)
    pair.show({ tenants: {}, host: first })
    // The tenant's own side came to the second state by itself.
    pair.show({ tenants: second, host: second })
    expect(pair.show({ tenants: second, host: first })).toMatchObject({ status: expect.any(Object) })
  })

  test('that the tenant’s API or a controller takes away comes again, and not for ever', () => {
    const pair = new StatusPair(resource, object)
    const shown = Array.from({ length: 12 }, () => pair.show({ tenants: {}, host: first }))
    expect(shown.filter((each) => typeof each === 'object')).toHaveLength(6)
    expect(shown.at(-1)).toBe('PatchLoop')
    expect(pair.show({ tenants: {}, host: second })).toEqual({ status: second })
  })
})

test.each(['services', 'ingresses.networking.k8s.io', 'widgets.example.com'])(
  'the status of %s is shown to an object that the tenant has made anew',
  (resource) => {
    const found = cases[resource]
    if (found === undefined) throw new Error(`there is no case of ${resource}`)
    const pair = new StatusPair(resource, found.object)
    pair.show({ tenants: {}, host: found.host[0] })
    pair.uid = 'w'
    expect(pair.show({ tenants: {}, host: found.host[0] })).toEqual({ status: found.host[0] })
    expect(pair.show({ tenants: found.tenants, host: found.host[0] })).toBeUndefined()
  },
)

test('a pod’s status is the kubelet’s: whatever is set in its place is put right, each time', () => {
  const host: JsonObject = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] }
  const pair = new StatusPair('pods', podOf('o'))
  for (const phase of ['Pending', 'Unknown', 'Pending']) {
    expect(pair.show({ tenants: { phase }, host })).toMatchObject({ status: { phase: 'Running' } })
  }
})
