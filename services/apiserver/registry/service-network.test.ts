import { describe, expect, it } from 'vitest'
import type { KubeObject } from '#libs/kube-model'
import { createTestCluster } from './testing.ts'

const service = (name: string, spec: object = {}): KubeObject => ({
  metadata: { name },
  spec: { ports: [{ port: 80 }], ...spec },
})
const specOf = (object: KubeObject | undefined): { clusterIP?: string; ports: { nodePort?: number }[] } =>
  object?.['spec'] as { clusterIP?: string; ports: { nodePort?: number }[] }

describe('service addresses', () => {
  it('gives the API the first address and others what is free', () => {
    const { api } = createTestCluster({ serviceCidr: '10.50.0.0/24' })
    expect(specOf(api.get('services', 'default', 'kubernetes')).clusterIP).toBe('10.50.0.1')
    const first = specOf(api.create('services', 'default', service('a'))).clusterIP
    const second = specOf(api.create('services', 'default', service('b'))).clusterIP
    expect(first).toMatch(/^10\.50\.0\.\d+$/)
    expect(second).not.toBe(first)
  })

  it('refuses an address that is taken or outside, and frees it with its Service', () => {
    const { api } = createTestCluster()
    const { clusterIP = '' } = specOf(api.create('services', 'default', service('a')))
    expect(() => api.create('services', 'default', service('b', { clusterIP }))).toThrow('already allocated')
    expect(() => api.create('services', 'default', service('b', { clusterIP: '192.0.2.1' }))).toThrow('current range')
    api.delete('services', 'default', 'a')
    expect(specOf(api.create('services', 'default', service('b', { clusterIP }))).clusterIP).toBe(clusterIP)
  })

  it('says so when the range is used up', () => {
    const { api } = createTestCluster({ serviceCidr: '10.50.0.0/29' })
    for (const name of ['a', 'b', 'c', 'd', 'e']) api.create('services', 'default', service(name))
    expect(() => api.create('services', 'default', service('f'))).toThrow('range is full')
  })

  it('gives each port of a NodePort Service a port of its own', () => {
    const { api } = createTestCluster()
    const ports = [
      { name: 'a', port: 80 },
      { name: 'b', port: 81 },
    ]
    const made = specOf(api.create('services', 'default', service('a', { type: 'NodePort', ports })))
    const numbers = made.ports.map(({ nodePort }) => nodePort)
    expect(new Set(numbers).size).toBe(2)
    expect(numbers.every((port) => port !== undefined && port >= 30_000 && port <= 32_767)).toBe(true)
  })

  it('leaves node ports of an open cluster unset until any is set', () => {
    const { api } = createTestCluster({ serviceClusterIP: 'open' })
    const ports = [{ port: 80, protocol: 'TCP', targetPort: 80 }]
    const made = api.create('services', 'default', { metadata: { name: 'n' }, spec: { type: 'NodePort', ports } })
    expect(made).not.toHaveProperty('spec.ports[0].nodePort')
    const set = { ...made, spec: { ...(made['spec'] as object), ports: [{ ...ports[0], nodePort: 20_001 }] } }
    expect(api.update('services', set)).toHaveProperty('spec.ports[0].nodePort', 20_001)
  })

  it('gives the API its address in every mode', () => {
    for (const serviceClusterIP of ['open', 'allocate'] as const) {
      const { api } = createTestCluster({ serviceClusterIP })
      expect(api.get('services', 'default', 'kubernetes')).toHaveProperty('spec.clusterIP', '10.96.0.1')
    }
  })

  it('leaves Services of an open cluster without an address until one is set, once', () => {
    const { api } = createTestCluster({ serviceClusterIP: 'open' })
    const made = api.create('services', 'default', service('a'))
    expect(specOf(made).clusterIP).toBeUndefined()
    const set = { ...made, spec: { ...(made['spec'] as object), clusterIP: '10.96.7.7', clusterIPs: ['10.96.7.7'] } }
    const updated = api.update('services', set)
    expect(specOf(updated).clusterIP).toBe('10.96.7.7')
    const again = {
      ...updated,
      spec: { ...(updated['spec'] as object), clusterIP: '10.1.1.1', clusterIPs: ['10.1.1.1'] },
    }
    expect(() => api.update('services', again)).toThrow('may not change once set')
  })
})
