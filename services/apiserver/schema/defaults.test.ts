import { describe, expect, it } from 'vitest'

import type { JsonObject } from '#libs/kube-model'

import { applyDefaults } from './defaults.ts'

function completed(kind: string, object: JsonObject, group = ''): JsonObject {
  applyDefaults({ group, version: 'v1', kind }, object)
  return object
}

const CONTAINER = {
  name: 'c',
  image: 'img:1',
  resources: {},
  terminationMessagePath: '/dev/termination-log',
  terminationMessagePolicy: 'File',
  imagePullPolicy: 'IfNotPresent',
}

const POD_SPEC = {
  containers: [CONTAINER],
  restartPolicy: 'Always',
  terminationGracePeriodSeconds: 30,
  dnsPolicy: 'ClusterFirst',
  securityContext: {},
  schedulerName: 'default-scheduler',
}

describe('applyDefaults', () => {
  it('completes a pod', () => {
    const pod = { metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'img:1' }] } }
    expect(completed('Pod', pod)).toEqual({
      metadata: { name: 'p' },
      spec: { ...POD_SPEC, enableServiceLinks: true },
      status: {},
    })
  })

  it('completes a Deployment and its template', () => {
    const spec = {
      selector: { matchLabels: { app: 'd' } },
      template: { metadata: { labels: { app: 'd' } }, spec: { containers: [{ name: 'c', image: 'img:1' }] } },
    }
    expect(completed('Deployment', { metadata: {}, spec }, 'apps')).toEqual({
      metadata: {},
      spec: {
        replicas: 1,
        selector: { matchLabels: { app: 'd' } },
        template: { metadata: { labels: { app: 'd' } }, spec: POD_SPEC },
        strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '25%', maxSurge: '25%' } },
        revisionHistoryLimit: 10,
        progressDeadlineSeconds: 600,
      },
      status: {},
    })
  })

  it.each([
    ['img', 'Always'],
    ['img:latest', 'Always'],
    ['host:5000/img', 'Always'],
    ['host:5000/img:1', 'IfNotPresent'],
    ['img@sha256:00', 'IfNotPresent'],
  ])('pulls %s: %s', (image, policy) => {
    const pod = completed('Pod', { spec: { containers: [{ name: 'c', image }] } })
    expect(pod).toMatchObject({ spec: { containers: [{ imagePullPolicy: policy }] } })
  })

  it('requests what is limited', () => {
    const pod = completed('Pod', {
      spec: { containers: [{ name: 'c', image: 'i', resources: { limits: { cpu: '1' } } }] },
    })
    expect(pod).toMatchObject({ spec: { containers: [{ resources: { requests: { cpu: '1' } } }] } })
  })

  it('completes probes, ports, references and volumes', () => {
    const pod = completed('Pod', {
      spec: {
        containers: [
          {
            name: 'c',
            image: 'i',
            ports: [{ containerPort: 80 }],
            livenessProbe: { httpGet: { port: 80 } },
            env: [{ name: 'N', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }],
          },
        ],
        volumes: [{ name: 's', secret: { secretName: 'x' } }, { name: 'h', hostPath: { path: '/x' } }, { name: 'e' }],
      },
    })
    expect(pod).toMatchObject({
      spec: {
        containers: [
          {
            ports: [{ containerPort: 80, protocol: 'TCP' }],
            livenessProbe: {
              httpGet: { path: '/', scheme: 'HTTP' },
              timeoutSeconds: 1,
              periodSeconds: 10,
              successThreshold: 1,
              failureThreshold: 3,
            },
            env: [{ valueFrom: { fieldRef: { apiVersion: 'v1' } } }],
          },
        ],
        volumes: [{ secret: { defaultMode: 420 } }, { hostPath: { type: '' } }, { name: 'e', emptyDir: {} }],
      },
    })
  })

  it('completes Services by type', () => {
    expect(completed('Service', { spec: { ports: [{ port: 80 }] } })).toEqual({
      metadata: {},
      spec: {
        ports: [{ port: 80, protocol: 'TCP', targetPort: 80 }],
        sessionAffinity: 'None',
        type: 'ClusterIP',
        internalTrafficPolicy: 'Cluster',
      },
      status: { loadBalancer: {} },
    })
    expect(completed('Service', { spec: { type: 'LoadBalancer' } })).toMatchObject({
      spec: { externalTrafficPolicy: 'Cluster', allocateLoadBalancerNodePorts: true },
    })
  })

  it('folds stringData of a Secret into its data', () => {
    const secret = completed('Secret', { data: { k: 'eA==' }, stringData: { k: 'new' } })
    expect(secret).toEqual({ metadata: {}, data: { k: 'bmV3' }, type: 'Opaque' })
  })

  it('shows times of conditions as null and zero values of mandatory fields', () => {
    const deployment = completed('Deployment', { status: { conditions: [{ type: 'A', status: 'True' }] } }, 'apps')
    expect(deployment).toMatchObject({
      status: { conditions: [{ type: 'A', status: 'True', lastUpdateTime: null, lastTransitionTime: null }] },
    })
    expect(completed('ReplicaSet', {}, 'apps')).toMatchObject({ status: { replicas: 0 } })
  })

  it('changes nothing the second time', () => {
    const once = completed('Pod', { spec: { containers: [{ name: 'c', image: 'img:1' }] } })
    expect(completed('Pod', structuredClone(once))).toEqual(once)
  })
})
