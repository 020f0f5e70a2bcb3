import type { KubeObject } from '#libs/kube-model'
import type { Controller, ControllerContext } from './controller-context.ts'
import { createWorkQueue } from './work-queue.ts'

const ROOT_CA = 'kube-root-ca.crt'

/**
 * Keeps in every namespace what pods expect to find: the ServiceAccount `default` and, when a CA is given, the
 * ConfigMap `kube-root-ca.crt` with the certificate that the cluster's API is to be trusted by.
 */
export function startServiceAccountController(context: ControllerContext, caCertificate?: string): Controller {
  const { api } = context
  const namespaces = context.informers.of('namespaces')
  const queue = createWorkQueue({ name: 'service-account', reconcile, ...context })

  namespaces.onChange(({ object, isDeleted }) => {
    if (!isDeleted) queue.add(object.metadata.name ?? '')
  })
  const stops = [
    api.subscribe('serviceaccounts', ({ type, object }) => {
      if (type === 'DELETED' && object.metadata.name === 'default') queue.add(object.metadata.namespace ?? '')
    }),
    api.subscribe('configmaps', ({ type, object }) => {
      if (type !== 'ADDED' && object.metadata.name === ROOT_CA) queue.add(object.metadata.namespace ?? '')
    }),
  ]

  function reconcile(name: string): void {
    const namespace = api.get('namespaces', undefined, name)
    if (namespace === undefined || namespace.metadata.deletionTimestamp !== undefined) return
    if (api.get('serviceaccounts', name, 'default') === undefined) {
      api.create('serviceaccounts', name, {
        apiVersion: 'v1',
        kind: 'ServiceAccount',
        metadata: { name: 'default', namespace: name },
      })
    }
    if (caCertificate !== undefined) keepRootCa(name, caCertificate)
  }

  function keepRootCa(namespace: string, certificate: string): void {
    const wanted = { 'ca.crt': certificate }
    const current = api.get('configmaps', namespace, ROOT_CA) as
      | (KubeObject & { data?: Record<string, string> })
      | undefined
    if (current === undefined) {
      api.create('configmaps', namespace, {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: {
          name: ROOT_CA,
          namespace,
          annotations: {
            'kubernetes.io/description': 'Contains a CA bundle that can be used to verify the kube-apiserver.',
          },
        },
        data: wanted,
      })
    } else if (current.data?.['ca.crt'] !== certificate) {
      api.update('configmaps', { ...current, data: wanted })
    }
  }

  return {
    close: () => {
      queue.close()
      for (const stop of stops) stop()
    },
  }
}
