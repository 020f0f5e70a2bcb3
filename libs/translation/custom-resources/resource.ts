import { type ResourceInfo, knownResource } from '#libs/kube-model'
import { type CustomResource, type MirroredCustomResource, type TenantConfig, customResources } from '#libs/sync-config'

/** Token of the definitions of custom resources. */
export const DEFINITIONS = 'customresourcedefinitions.apiextensions.k8s.io'

/** Whether a resource is none of those that this build knows: then only configurations say what becomes of it. */
export function isCustomResource(resource: string): boolean {
  return resource.includes('.') && knownResource(resource) === undefined
}

/**
 * How a custom resource is asked for. Without a version it is the one that each API prefers; the kind's name is in its
 * objects alone.
 */
export function customResourceInfo(
  resource: string,
  { version = '', namespaced }: { version?: string | undefined; namespaced: boolean },
): ResourceInfo {
  const dot = resource.indexOf('.')
  const plural = resource.slice(0, dot)
  return { group: resource.slice(dot + 1), version, plural, kind: plural, namespaced }
}

/** What the configuration says of a resource that crosses to the host, switched on or not. */
export function toHostResource(config: TenantConfig, resource: string): CustomResource | undefined {
  return customResources(config).toHost.find((each) => each.resource === resource)
}

/** What the configuration says of a resource of the host's that the tenant sees, switched on or not. */
export function fromHostResource(config: TenantConfig, resource: string): MirroredCustomResource | undefined {
  return customResources(config).fromHost.find((each) => each.resource === resource)
}

/** The resources that are switched on, in either direction. */
export function enabledCustomResources(config: TenantConfig): CustomResource[] {
  const { toHost, fromHost } = customResources(config)
  return [...toHost, ...fromHost].filter(({ enabled }) => enabled)
}
