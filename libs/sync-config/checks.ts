import type { z } from 'zod'
import { knownResource } from '#libs/kube-model'
import { type Path, formatPath } from './json-path.ts'
import { mappingProblem, namespaceMappingProblem } from './mappings.ts'
import type { ConfigProblem } from './problem.ts'
import type { tenantConfigSchema } from './schema.ts'
import { parseToleration } from './tolerations.ts'

type Parsed = z.output<typeof tenantConfigSchema>
type Patch = Parsed['sync']['toHost']['pods']['patches'][number]
type Found = { path: Path; message: string }

const RESOURCE_NAME = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?\.[a-z0-9]([-.a-z0-9]*[a-z0-9])?(\/v[a-z0-9]+)?$/

/** Problems that the shape of the configuration does not show: keys that contradict one another, and texts of a format. */
export function findContradictions(
  config: Parsed,
  checkPatch: (patch: Patch) => string | undefined = () => undefined,
): ConfigProblem[] {
  const found = [
    ...unsupported(config),
    ...bothDirections(config),
    ...customResources(config),
    ...hostMappings(config),
    ...nodeModel(config),
    ...patchLists(config.sync, ['sync'], checkPatch),
    ...tolerations(config),
  ]
  return found.map(({ path, message }) => ({ path: formatPath(path), message }))
}

/** What cannot be carried out together with what else is on. */
function* unsupported({ sync: { toHost } }: Parsed): Generator<Found> {
  const { enabled, referenceGrants, ...kinds } = toHost.gatewayApi
  const hasGateways = enabled || Object.values(kinds).some((kind) => kind.enabled)
  if (toHost.namespaces.enabled && hasGateways && referenceGrants.enabled === false) {
    yield {
      path: ['sync', 'toHost', 'gatewayApi', 'referenceGrants', 'enabled'],
      message:
        'cannot be off where namespaces and the Gateway API cross: the host permits no reference between namespaces without',
    }
  }
  const { byName } = toHost.namespaces.mappings
  for (const [from, to] of Object.entries(byName)) {
    if (Object.keys(byName).find((other) => byName[other] === to) === from) continue
    yield {
      path: ['sync', 'toHost', 'namespaces', 'mappings', 'byName', from],
      message: `"${to}" stands for another namespace already`,
    }
  }
}

function* bothDirections({ sync: { toHost, fromHost } }: Parsed): Generator<Found> {
  for (const kind of ['storageClasses', 'priorityClasses'] as const) {
    if (toHost[kind].enabled && fromHost[kind].enabled === true) {
      yield {
        path: ['sync', 'fromHost', kind, 'enabled'],
        message: `cannot be on together with sync.toHost.${kind}.enabled: one side must own them`,
      }
    }
  }
  for (const resource of Object.keys(fromHost.customResources)) {
    const opposite = Object.keys(toHost.customResources).find((key) => unversioned(key) === unversioned(resource))
    if (
      opposite !== undefined &&
      toHost.customResources[opposite]?.enabled &&
      fromHost.customResources[resource]?.enabled
    ) {
      yield {
        path: ['sync', 'fromHost', 'customResources', resource],
        message: 'crosses to the host as well, by sync.toHost.customResources: one side must own them',
      }
    }
  }
}

function* customResources({ sync }: Parsed): Generator<Found> {
  for (const direction of ['toHost', 'fromHost'] as const) {
    const resources = Object.keys(sync[direction].customResources)
    for (const [index, resource] of resources.entries()) {
      const path = ['sync', direction, 'customResources', resource]
      if (!RESOURCE_NAME.test(resource)) {
        yield { path, message: 'must be PLURAL.GROUP or PLURAL.GROUP/VERSION, such as certificates.cert-manager.io' }
      } else if (knownResource(unversioned(resource)) !== undefined) {
        yield { path, message: 'is no custom resource here: it has a key of its own, or does not cross' }
      } else if (resources.findIndex((other) => unversioned(other) === unversioned(resource)) !== index) {
        yield { path, message: 'is there already, in another version: only one crosses' }
      }
    }
  }
  for (const [resource, kind] of Object.entries(sync.fromHost.customResources)) {
    const path = ['sync', 'fromHost', 'customResources', resource, 'mappings', 'byName']
    const count = Object.keys(kind.mappings.byName).length
    if (kind.enabled && kind.scope === 'Namespaced' && count === 0) yield { path, message: NO_MAPPINGS }
    if (kind.scope === 'Cluster' && count > 0) yield { path, message: 'is for kinds in namespaces; use selector' }
  }
}

const NO_MAPPINGS = 'is empty: say which host objects, for example {"shared/*": "from-host/*"}'

function* hostMappings({ sync: { toHost, fromHost } }: Parsed): Generator<Found> {
  const kinds: [readonly string[], { mappings: { byName: Record<string, string> } }][] = [
    [['configMaps'], fromHost.configMaps],
    [['secrets'], fromHost.secrets],
    ...Object.entries(fromHost.customResources).map(([key, kind]): [readonly string[], typeof kind] => [
      ['customResources', key],
      kind,
    ]),
  ]
  for (const [keys, { mappings }] of kinds) {
    const path = ['sync', 'fromHost', ...keys, 'mappings', 'byName']
    yield* entries(path, mappings.byName, mappingProblem)
  }
  for (const kind of ['configMaps', 'secrets'] as const) {
    const { enabled, mappings } = fromHost[kind]
    if (enabled && Object.keys(mappings.byName).length === 0) {
      yield { path: ['sync', 'fromHost', kind, 'mappings', 'byName'], message: NO_MAPPINGS }
    }
  }
  const path = ['sync', 'toHost', 'namespaces', 'mappings', 'byName']
  yield* entries(path, toHost.namespaces.mappings.byName, namespaceMappingProblem)
}

function* entries(
  path: readonly string[],
  byName: Record<string, string>,
  check: (from: string, to: string) => string | undefined,
): Generator<Found> {
  for (const [from, to] of Object.entries(byName)) {
    const message = check(from, to)
    if (message !== undefined) yield { path: [...path, from], message }
  }
}

function* nodeModel({ nodes, sync }: Parsed): Generator<Found> {
  const selected = Object.keys(nodes.selector).length > 0
  if (nodes.model === 'dedicated' && !selected) {
    yield { path: ['nodes', 'selector'], message: 'is empty: say by which labels a dedicated tenant’s nodes are known' }
  }
  if (nodes.model !== 'dedicated' && selected) {
    yield { path: ['nodes', 'selector'], message: `is for nodes.model dedicated, not ${nodes.model}` }
  }
  if (nodes.model !== 'dedicated' && nodes.tolerations.length > 0) {
    const message = `is for nodes.model dedicated, not ${nodes.model}; sync.toHost.pods.enforceTolerations is for all`
    yield { path: ['nodes', 'tolerations'], message }
  }
  for (const [index, { key, operator, value }] of nodes.tolerations.entries()) {
    const path = ['nodes', 'tolerations', index]
    if (key === undefined && operator !== 'Exists') yield { path, message: 'needs a key, or the operator Exists' }
    if (operator === 'Exists' && value !== undefined)
      yield { path, message: 'has a value, which Exists does not compare' }
  }
  if (nodes.model === 'private' && sync.fromHost.nodes.enabled) {
    const message = 'cannot be on with nodes.model private: the tenant has nodes of its own'
    yield { path: ['sync', 'fromHost', 'nodes', 'enabled'], message }
  }
}

function* tolerations({ sync }: Parsed): Generator<Found> {
  for (const [index, text] of sync.toHost.pods.enforceTolerations.entries()) {
    const parsed = parseToleration(text)
    if (typeof parsed === 'string') {
      yield { path: ['sync', 'toHost', 'pods', 'enforceTolerations', index], message: parsed }
    }
  }
}

/** Every list of patches below `value`, whatever kind it belongs to. */
function* patchLists(value: unknown, path: Path, checkPatch: (patch: Patch) => string | undefined): Generator<Found> {
  if (typeof value !== 'object' || value === null) return
  for (const [key, inner] of Object.entries(value)) {
    if (key !== 'patches') yield* patchLists(inner, [...path, key], checkPatch)
    else yield* patchList(inner as Patch[], [...path, key], checkPatch)
  }
}

function* patchList(patches: Patch[], path: Path, checkPatch: (patch: Patch) => string | undefined): Generator<Found> {
  const seen = new Set<string>()
  for (const [index, patch] of patches.entries()) {
    const at = [...path, index]
    if (seen.has(patch.path)) yield { path: [...at, 'path'], message: `"${patch.path}" is patched twice` }
    seen.add(patch.path)
    const expression = patch.expression ?? patch.reverseExpression
    const ways = [expression, patch.reference, patch.labels].filter((way) => way !== undefined).length
    if (ways !== 1) yield { path: at, message: 'needs one of expression, reference and labels, and only one' }
    const message = checkPatch(patch)
    if (message !== undefined) yield { path: at, message }
  }
}

function unversioned(resource: string): string {
  return resource.split('/')[0] ?? resource
}
