import type { KubeObject } from '#libs/kube-model'
import type { ApiResource } from '../discovery/resources.ts'
import type { Exchange } from './exchange.ts'

/** Tells the client what is unwise about the object that it wrote. */
export function warnOfObject(exchange: Exchange, resource: ApiResource, object: KubeObject): void {
  const spec = object['spec'] as { externalIPs?: unknown[] } | undefined
  if (resource.token === 'services' && (spec?.externalIPs ?? []).length > 0) {
    exchange.warn('spec.externalIPs is deprecated and may no longer be implemented in some clusters')
  }
}
