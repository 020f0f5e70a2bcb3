import type { JsonObject, KubeObject } from '#libs/kube-model'
import { defaultTenantConfig } from '#libs/sync-config'
import type { TenantContext } from '../view.ts'

/** The tenant of most tests. */
export const TENANT: TenantContext = {
  name: 'team-a',
  hostNamespace: 'tenant-team-a',
  config: defaultTenantConfig(),
}

/** A pod of the tenant as its API holds it, with one container unless the spec says otherwise. */
export function podOf(
  name: string,
  options: { namespace?: string; metadata?: JsonObject; spec?: JsonObject } = {},
): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: options.namespace ?? 'default', ...options.metadata },
    spec: { containers: [{ name: 'main', image: 'nginx:1.27' }], ...options.spec },
    status: { phase: 'Pending', qosClass: 'BestEffort' },
  }
}

/** Any other object of the tenant in a namespace. */
export function objectOf(kind: string, name: string, fields: Record<string, unknown> = {}): KubeObject {
  return {
    apiVersion: 'v1',
    kind,
    ...fields,
    metadata: { name, namespace: 'default', ...(fields.metadata as JsonObject) },
  }
}
