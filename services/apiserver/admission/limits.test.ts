import { describe, expect, it } from 'vitest'
import type { KubeObject } from '#libs/kube-model'
import { createTestCluster, podNamed } from '../registry/testing.ts'

const container = (resources: object): object => ({ containers: [{ name: 'c', image: 'i', resources }] })

function setUp() {
  const { api } = createTestCluster()
  return {
    api,
    quota: (hard: object, spec: object = {}): KubeObject =>
      api.create('resourcequotas', 'default', { metadata: { name: 'q' }, spec: { hard, ...spec } }),
    pod: (name: string, resources: object): KubeObject =>
      api.create('pods', 'default', podNamed(name, container(resources))),
    used: (): unknown => (api.get('resourcequotas', 'default', 'q')?.['status'] as { used?: object } | undefined)?.used,
  }
}

describe('quotas', () => {
  it('count what is there already, book what comes and refuse what is too much', () => {
    const { pod, quota, used } = setUp()
    pod('a', { requests: { memory: '512Mi' } })
    quota({ 'requests.memory': '1Gi', pods: '5' })
    pod('b', { requests: { memory: '256Mi' } })
    expect(used()).toEqual({ 'requests.memory': '768Mi', pods: '2' })
    expect(() => pod('c', { requests: { memory: '300Mi' } })).toThrow(
      'pods "c" is forbidden: exceeded quota: q, requested: requests.memory=300Mi, used: requests.memory=768Mi, limited: requests.memory=1Gi',
    )
    expect(used()).toMatchObject({ pods: '2' })
  })

  it('want every container to say how much it needs of what is limited', () => {
    const { pod, quota } = setUp()
    quota({ 'limits.cpu': '1', 'requests.memory': '1Gi' })
    expect(() => pod('a', {})).toThrow('failed quota: q: must specify limits.cpu for: c; requests.memory for: c')
  })

  it('count by scope, by storage class and by any resource’s name', () => {
    const { api, pod, quota, used } = setUp()
    quota({ pods: '1' }, { scopes: ['BestEffort'] })
    pod('a', { requests: { cpu: '1' } })
    pod('b', {})
    expect(() => pod('c', {})).toThrow('exceeded quota')
    expect(used()).toEqual({ pods: '1' })
    const hard = { 'count/deployments.apps': '0', 'fast.storageclass.storage.k8s.io/requests.storage': '1Gi' }
    api.create('resourcequotas', 'default', { metadata: { name: 'other' }, spec: { hard } })
    const claim = {
      metadata: { name: 'big' },
      spec: { accessModes: ['ReadWriteOnce'], storageClassName: 'fast', resources: { requests: { storage: '2Gi' } } },
    }
    expect(() => api.create('persistentvolumeclaims', 'default', claim)).toThrow('exceeded quota: other')
  })
})

describe('limit ranges', () => {
  it('bound what pods and claims ask for', () => {
    const { api, pod } = setUp()
    const limits = [
      { type: 'Pod', max: { memory: '1Gi' } },
      { type: 'Container', maxLimitRequestRatio: { cpu: '2' } },
      { type: 'PersistentVolumeClaim', min: { storage: '1Gi' } },
    ]
    api.create('limitranges', 'default', { metadata: { name: 'l' }, spec: { limits } })
    expect(() => pod('a', {})).toThrow('maximum memory usage per Pod is 1Gi.  No limit is specified')
    expect(() => pod('b', { limits: { memory: '2Gi' } })).toThrow(
      'maximum memory usage per Pod is 1Gi, but limit is 2Gi',
    )
    expect(() => pod('c', { limits: { cpu: '3', memory: '1Gi' }, requests: { cpu: '1' } })).toThrow(
      'cpu max limit to request ratio per Container is 2, but provided ratio is 3.000000',
    )
    const claim = {
      metadata: { name: 's' },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Mi' } } },
    }
    expect(() => api.create('persistentvolumeclaims', 'default', claim)).toThrow(
      'minimum storage usage per PersistentVolumeClaim is 1Gi, but request is 1Mi',
    )
  })
})
