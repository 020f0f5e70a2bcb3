import { expect, test } from 'vitest'
import type { ApiObject } from './api-request.ts'
import { hostNameOf } from './host-names.ts'
import { type ClusterState, type State, judge, placeOf } from './oracle.ts'
import type { WorkKind } from './workload.ts'

/* The oracle must be able to fail: each of these states is wrong in one way, and it has to say so. */

const status = (): Record<string, unknown> => ({
  phase: 'Running',
  podIP: '10.0.0.1',
  conditions: [{ type: 'Ready', status: 'True' }],
  containerStatuses: [{ name: 'main', ready: true, restartCount: 0 }],
})

function pod(config: string): ApiObject {
  return {
    metadata: { namespace: 'shop', name: 'web', uid: 'v-pod', labels: { app: 'web' } },
    spec: {
      nodeName: 'n1',
      containers: [{ image: 'pause:1' }],
      volumes: [{ configMap: { name: config } }],
    },
    status: status(),
  }
}

/** An object as Causeway would copy it. */
function copyOf(kind: WorkKind, object: ApiObject, rest: Record<string, unknown> = {}): ApiObject {
  const { namespace = '', name = '', uid = '', labels } = object.metadata
  return {
    ...structuredClone(object),
    metadata: {
      namespace: 'causeway-t',
      name: hostNameOf('t', { namespace, name }),
      uid: `h-${uid}`,
      labels: { ...labels, 'causeway.dev/tenant': 't', 'causeway.dev/namespace': namespace },
      annotations: {
        'causeway.dev/uid': uid,
        'causeway.dev/name': name,
        'causeway.dev/namespace': namespace,
        'causeway.dev/resource': kind,
      },
    },
    ...rest,
  }
}

const empty = (): ClusterState => ({ pods: [], configmaps: [], secrets: [], services: [], persistentvolumeclaims: [] })

type Sides = { tenant: ClusterState; host: ClusterState }

/** Two sides that agree: a pod, the ConfigMap that it uses and one that nothing uses, a Service, a claim, a stranger. */
function sides(): Sides {
  const config: ApiObject = { metadata: { namespace: 'shop', name: 'cfg', uid: 'v-cfg' }, data: { counter: '2' } }
  const unused: ApiObject = { metadata: { namespace: 'shop', name: 'unused', uid: 'v-unused' }, data: {} }
  const service: ApiObject = {
    metadata: { namespace: 'shop', name: 'svc', uid: 'v-svc' },
    spec: { clusterIP: '10.96.0.9', ports: [{ port: 80 }] },
  }
  const claim: ApiObject = {
    metadata: { namespace: 'shop', name: 'data', uid: 'v-pvc' },
    spec: { volumeName: 'pv', resources: { requests: { storage: '1Gi' } } },
    status: { phase: 'Bound' },
  }
  const copiedPod = copyOf('pods', pod('cfg'))
  copiedPod['spec'] = { ...(copiedPod['spec'] as object), volumes: [{ configMap: { name: 'cfg-x-shop-x-t' } }] }
  return {
    tenant: {
      ...empty(),
      pods: [pod('cfg')],
      configmaps: [config, unused],
      services: [service],
      persistentvolumeclaims: [claim],
    },
    host: {
      ...empty(),
      pods: [copiedPod],
      configmaps: [copyOf('configmaps', config), stranger()],
      services: [copyOf('services', service)],
      persistentvolumeclaims: [copyOf('persistentvolumeclaims', claim)],
    },
  }
}

const stranger = (): ApiObject => ({
  metadata: { namespace: 'causeway-t', name: 'foreign', uid: 'f', resourceVersion: '1' },
  data: { a: '1' },
})

function judged(change: (sides: Sides) => void): string[] {
  const { tenant, host } = sides()
  const state: State = {
    tenants: { t: tenant },
    host,
    foreign: new Map([[placeOf('configmaps', stranger()), stranger()]]),
    alive: new Map([['v-pod', 't: pods shop/web']]),
  }
  change({ tenant, host })
  return judge(state)
}

/** @throws Error when there is none */
function first(list: ApiObject[]): ApiObject {
  const [object] = list
  if (object === undefined) throw new Error('empty')
  return object
}

test('two sides that agree are well', () => {
  expect(judged(() => undefined)).toEqual([])
})

test.each<[string, (sides: Sides) => void, RegExp]>([
  ['a copy is missing', ({ host }) => host.pods.splice(0), /pods shop\/web has no copy/],
  ['a used ConfigMap is missing', ({ host }) => host.configmaps.splice(0, 1), /configmaps shop\/cfg has no copy/],
  [
    'there is a copy of what nothing uses',
    ({ tenant, host }) => host.configmaps.push(copyOf('configmaps', tenant.configmaps[1] as ApiObject)),
    /should not be there \(unused\)/,
  ],
  ['the original of a copy is gone', ({ tenant }) => tenant.services.splice(0), /should not be there \(svc\)/],
  ['the copy is of an earlier object', ({ tenant }) => (first(tenant.pods).metadata.uid = 'v-new'), /stamp of the uid/],
  ['a label differs', ({ tenant }) => (first(tenant.pods).metadata.labels = { app: 'db' }), /labels is/],
  ['data differs', ({ tenant }) => (first(tenant.configmaps)['data'] = { counter: '3' }), /data is/],
  ['the tenant’s status is old', ({ tenant }) => (first(tenant.pods)['status'] = {}), /state is/],
  [
    'the copy mounts another name',
    ({ host }) => Object.assign(first(host.pods)['spec'] as object, { volumes: [{ configMap: { name: 'cfg' } }] }),
    /volumes is/,
  ],
  [
    'the address differs',
    ({ tenant }) => Object.assign(first(tenant.services)['spec'] as object, { clusterIP: '10.96.0.1' }),
    /address is/,
  ],
  ['a claim is not shown as bound', ({ tenant }) => (first(tenant.persistentvolumeclaims)['status'] = {}), /claim is/],
  ['a copy is on its way out', ({ host }) => (first(host.pods).metadata.deletionTimestamp = 'now'), /on its way out/],
  ['a stranger is gone', ({ host }) => host.configmaps.pop(), /somebody else's, is gone/],
  [
    'a stranger was written without a change',
    ({ host }) => ((host.configmaps[1] as ApiObject).metadata.resourceVersion = '2'),
    /somebody else's, was changed/,
  ],
  [
    'nobody deleted what is gone',
    ({ tenant, host }) =>
      [tenant.pods, tenant.configmaps, host.pods, host.configmaps].forEach((list) => list.splice(0)),
    /pods shop\/web is gone, and nobody deleted it/,
  ],
])('it is told when %s', (_, change, problem) => {
  expect(judged(change).join('\n')).toMatch(problem)
})
