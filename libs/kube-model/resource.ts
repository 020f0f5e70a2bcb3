/** How a kind is served: the parts of its REST path and whether its objects live in namespaces. */
export type ResourceInfo = {
  /** API group, empty for the core group. */
  group: string
  version: string
  plural: string
  kind: string
  namespaced: boolean
}

/** Names a resource in one token: `pods`, or `deployments.apps` outside the core group. */
export function resourceToken(resource: Pick<ResourceInfo, 'group' | 'plural'>): string {
  return resource.group === '' ? resource.plural : `${resource.plural}.${resource.group}`
}

/** `v1` or `group/version`, as objects carry it in `apiVersion`. */
export function apiVersionOf(resource: Pick<ResourceInfo, 'group' | 'version'>): string {
  return resource.group === '' ? resource.version : `${resource.group}/${resource.version}`
}

/** The REST path of a collection or, with a name, of an object; every part is percent-encoded. */
export function resourcePath(
  resource: ResourceInfo,
  target: { namespace?: string | undefined; name?: string | undefined; subresource?: string | undefined } = {},
): string {
  const root = resource.group === '' ? `/api/${resource.version}` : `/apis/${resource.group}/${resource.version}`
  const scope = resource.namespaced && target.namespace ? `/namespaces/${encodeURIComponent(target.namespace)}` : ''
  const name = target.name === undefined ? '' : `/${encodeURIComponent(target.name)}`
  const sub = target.subresource === undefined ? '' : `/${target.subresource}`
  return `${root}${scope}/${resource.plural}${name}${sub}`
}

const core = (plural: string, kind: string, namespaced = true): ResourceInfo => ({
  group: '',
  version: 'v1',
  plural,
  kind,
  namespaced,
})

/** The kinds that cross the bridge or that the bridge needs to know of. */
export const RESOURCES = {
  pods: core('pods', 'Pod'),
  configmaps: core('configmaps', 'ConfigMap'),
  secrets: core('secrets', 'Secret'),
  services: core('services', 'Service'),
  events: core('events', 'Event'),
  nodes: core('nodes', 'Node', false),
  namespaces: core('namespaces', 'Namespace', false),
} as const satisfies Record<string, ResourceInfo>

/** Resource tokens of the kinds in {@link RESOURCES}. */
export type KnownResource = keyof typeof RESOURCES

/** Looks up a kind by its token; `undefined` when it is not one of {@link RESOURCES}. */
export function knownResource(token: string): ResourceInfo | undefined {
  return Object.hasOwn(RESOURCES, token) ? RESOURCES[token as KnownResource] : undefined
}
