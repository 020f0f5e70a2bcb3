import { expect, it } from 'vitest'
import { backendsOf, endpointSubsets, sliceEndpoint } from './endpoints.ts'
import type { Service } from './endpoints.ts'
import type { Pod } from './pods.ts'

const service = (spec: Service['spec'] & object): Service => ({ metadata: { name: 'web' }, spec })
const pod = (
  name: string,
  ip: string | undefined,
  more: { isReady?: boolean; isDeleting?: boolean; port?: number } = {},
): Pod => ({
  metadata: {
    name,
    namespace: 'default',
    uid: name,
    ...(more.isDeleting ? { deletionTimestamp: '2025-01-01T00:00:00Z' } : {}),
  },
  spec: { containers: [{ name: 'main', ports: [{ name: 'http', containerPort: more.port ?? 8080 }] }] },
  status: {
    phase: 'Running',
    ...(ip === undefined ? {} : { podIP: ip }),
    conditions: [{ type: 'Ready', status: more.isReady === false ? 'False' : 'True' }],
  },
})
const addressesOf = (subsets: unknown[]): unknown[] =>
  (subsets as { addresses?: { ip: string }[]; notReadyAddresses?: { ip: string }[]; ports: unknown }[]).map(
    (subset) => ({
      ready: subset.addresses?.map(({ ip }) => ip),
      notReady: subset.notReadyAddresses?.map(({ ip }) => ip),
      ports: subset.ports,
    }),
  )

const named = service({ ports: [{ name: 'http', port: 80, targetPort: 'http' }] })

it('resolves named ports by pod and tells ready from not ready ones', () => {
  const pods = [pod('b', '10.0.0.2', { isReady: false }), pod('a', '10.0.0.1'), pod('none', undefined)]
  expect(addressesOf(endpointSubsets(backendsOf(named, pods)))).toEqual([
    { ready: ['10.0.0.1'], notReady: ['10.0.0.2'], ports: [{ name: 'http', port: 8080, protocol: 'TCP' }] },
  ])
})

it('puts pods whose named port differs into subsets of their own', () => {
  const pods = [pod('a', '10.0.0.1'), pod('b', '10.0.0.2', { port: 9090 })]
  expect(endpointSubsets(backendsOf(named, pods))).toHaveLength(2)
})

it('takes a pod that is being deleted out of Endpoints and marks it terminating in slices', () => {
  const backends = backendsOf(named, [pod('a', '10.0.0.1', { isDeleting: true })])
  expect(endpointSubsets(backends)).toEqual([])
  expect(backends.map(sliceEndpoint)).toMatchObject([
    { conditions: { ready: false, serving: true, terminating: true } },
  ])
})

it('publishes pods that are not ready when the service asks for it', () => {
  const eager = service({ publishNotReadyAddresses: true, ports: [{ port: 80 }] })
  const subsets = endpointSubsets(backendsOf(eager, [pod('a', '10.0.0.1', { isReady: false })]))
  expect(addressesOf(subsets)).toEqual([{ ready: ['10.0.0.1'], ports: [{ port: 80, protocol: 'TCP' }] }])
})
