import { describe, expect, it } from 'vitest'

import { cloneJson } from '#libs/kernel'
import type { JsonObject, KubeObject } from '#libs/kube-model'

import { applyDefaults } from '../schema/defaults.ts'
import { strategyFor } from './strategies.ts'
import { AllocationError } from './strategy.ts'
import type { StrategyContext } from './strategy.ts'

const SERVICE = { group: '', version: 'v1', kind: 'Service' }
const strategy = strategyFor('services')

/** Hands out 10.96.0.10, 10.96.0.11 … and 30000, 30001 …; 10.96.0.1 is taken. */
function contextOf(mode: 'allocate' | 'open' = 'allocate'): StrategyContext {
  let last = 9
  let port = 29_999
  return {
    now: '2026-01-01T00:00:00Z',
    serviceClusterIP: mode,
    allocateClusterIP: (requested) => {
      if (requested === '10.96.0.1') throw new AllocationError('provided IP is already allocated')
      last += 1
      return requested ?? `10.96.0.${last}`
    },
    allocateNodePort: (requested) => {
      port += 1
      return requested ?? port
    },
  }
}

function created(spec: JsonObject, context = contextOf()): KubeObject {
  const service: KubeObject = { metadata: { name: 's' }, spec: cloneJson(spec) }
  applyDefaults(SERVICE, service)
  strategy.prepareCreate(service, context)
  return service
}

function updated(previous: KubeObject, spec: JsonObject): KubeObject {
  const next: KubeObject = { metadata: cloneJson(previous.metadata), spec: cloneJson(spec) }
  applyDefaults(SERVICE, next)
  strategy.prepareUpdate(next, previous, contextOf())
  return next
}

const texts = (object: KubeObject, previous?: KubeObject): string[] =>
  strategy.validate(object, previous).map(({ field, message }) => `${field}: ${message}`)

const PORTS = [{ name: 'http', port: 80 }]

describe('a Service that is created', () => {
  it('gets an address', () => {
    expect(created({ ports: PORTS })).toMatchObject({
      spec: {
        clusterIP: '10.96.0.10',
        clusterIPs: ['10.96.0.10'],
        ipFamilies: ['IPv4'],
        ipFamilyPolicy: 'SingleStack',
      },
      status: { loadBalancer: {} },
    })
  })

  it('stays without an address in a cluster that leaves it open', () => {
    const service = created({ ports: PORTS }, contextOf('open'))
    expect(service['spec']).not.toHaveProperty('clusterIP')
    expect(updated(service, { ports: PORTS, clusterIP: '10.1.1.1' })).toMatchObject({
      spec: { clusterIP: '10.1.1.1', clusterIPs: ['10.1.1.1'] },
    })
  })

  it('gets node ports when its type needs them', () => {
    expect(created({ ports: PORTS, type: 'NodePort' })).toMatchObject({ spec: { ports: [{ nodePort: 30_000 }] } })
    expect(created({ ports: PORTS, type: 'LoadBalancer', externalTrafficPolicy: 'Local' })).toMatchObject({
      spec: { ports: [{ nodePort: 30_000 }], healthCheckNodePort: 30_001 },
    })
    const none = created({ ports: PORTS, type: 'LoadBalancer', allocateLoadBalancerNodePorts: false })
    expect(none).not.toHaveProperty('spec.ports[0].nodePort')
  })

  it('gets no address when it is headless or an external name', () => {
    expect(created({ clusterIP: 'None' })).toMatchObject({ spec: { clusterIPs: ['None'] } })
    expect(created({ type: 'ExternalName', externalName: 'x.example' })).toEqual({
      metadata: { name: 's' },
      spec: { type: 'ExternalName', externalName: 'x.example', sessionAffinity: 'None' },
      status: { loadBalancer: {} },
    })
  })

  it('is refused an address that is taken', () => {
    expect(() => created({ ports: PORTS, clusterIP: '10.96.0.1' })).toThrow(
      'Service "s" is invalid: spec.clusterIPs: Invalid value: ["10.96.0.1"]: failed to allocate IP 10.96.0.1: provided IP is already allocated',
    )
  })

  it.each<[JsonObject, string[]]>([
    [{}, ['spec.ports: Required value']],
    [
      { ports: [{ port: 80 }, { port: 81 }] },
      ['spec.ports[0].name: Required value', 'spec.ports[1].name: Required value'],
    ],
    [
      {
        ports: [
          { name: 'a', port: 80 },
          { name: 'a', port: 81 },
        ],
      },
      ['spec.ports[1].name: Duplicate value: "a"'],
    ],
    [
      { ports: PORTS, clusterIP: 'abc' },
      ['spec.clusterIPs[0]: Invalid value: "abc": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)'],
    ],
    [
      { ports: PORTS, type: 'NodePort', clusterIP: 'None' },
      ['spec.clusterIPs[0]: Invalid value: "None": may not be set to \'None\' for NodePort services'],
    ],
    [
      { ports: [{ port: 80, nodePort: 30_000 }] },
      ["spec.ports[0].nodePort: Forbidden: may not be used when `type` is 'ClusterIP'"],
    ],
    [{ type: 'ExternalName' }, ['spec.externalName: Required value']],
  ])('is refused with spec %j', (spec, expected) => {
    expect(texts(created(spec))).toEqual(expected)
  })
})

describe('a Service that is updated', () => {
  const previous = created({ ports: PORTS, type: 'NodePort' })

  it('keeps its address and node ports when the client does not name them', () => {
    expect(updated(previous, { ports: PORTS, type: 'NodePort' })['spec']).toEqual(previous['spec'])
  })

  it('lets node ports go when its type does not need them any more', () => {
    const next = updated(previous, { ...(previous['spec'] as JsonObject), type: 'ClusterIP' })
    expect(next).toMatchObject({ spec: { clusterIP: '10.96.0.10' } })
    expect(next).not.toHaveProperty('spec.ports[0].nodePort')
    expect(next).not.toHaveProperty('spec.externalTrafficPolicy')
    expect(texts(next, previous)).toEqual([])
  })

  it('cannot change its address', () => {
    const next = updated(previous, { ...(previous['spec'] as JsonObject), clusterIP: '192.0.2.1' })
    expect(texts(next, previous)).toEqual(['spec.clusterIPs[0]: Invalid value: ["192.0.2.1"]: may not change once set'])
  })
})

describe('the status of a Service', () => {
  const withPoints = (service: KubeObject, ...ingress: JsonObject[]): KubeObject => ({
    ...cloneJson(service),
    status: { loadBalancer: { ingress } },
  })

  it('has addresses of a load balancer only while the Service has one', () => {
    const plain = created({ ports: PORTS })
    expect(texts(withPoints(plain, { ip: '192.0.2.1' }), plain)).toEqual([
      "status.loadBalancer.ingress: Forbidden: may only be used when `spec.type` is 'LoadBalancer'",
    ])
    const balanced = created({ ports: PORTS, type: 'LoadBalancer' })
    const reached = withPoints(balanced, { ip: '192.0.2.1', ipMode: 'VIP' })
    expect(texts(reached, balanced)).toEqual([])
    expect(updated(reached, { ports: PORTS, type: 'LoadBalancer' })['status']).toEqual(reached['status'])
    expect(updated(reached, { ports: PORTS, type: 'ClusterIP' })['status']).toEqual({ loadBalancer: {} })
  })

  it('has valid addresses', () => {
    const balanced = created({ ports: PORTS, type: 'LoadBalancer' })
    const points = [{ ip: 'x' }, {}, { ip: '1.2.3.4', ipMode: 'Foo' }, { hostname: '1.2.3.4' }, { ipMode: 'VIP' }]
    expect(texts(withPoints(balanced, ...points), balanced)).toEqual([
      'status.loadBalancer.ingress[0].ip: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
      'status.loadBalancer.ingress[3].hostname: Invalid value: "1.2.3.4": must be a DNS name, not an IP address',
      'status.loadBalancer.ingress[2].ipMode: Unsupported value: "Foo": supported values: "Proxy", "VIP"',
      'status.loadBalancer.ingress[4].ipMode: Forbidden: may not be specified when `ip` is not set',
    ])
  })
})
