import { ApiError } from '../api-error.ts'
import type { ResourceCatalog } from './resource-catalog.ts'
import type { ApiResource, GroupVersion, Subresource } from './resources.ts'

const SCALE_VERSION = 'v1'

const groupVersionText = (group: string, version: string): string => (group === '' ? version : `${group}/${version}`)

const groupVersions = (group: string, versions: readonly string[]): { groupVersion: string; version: string }[] =>
  versions.map((version) => ({ groupVersion: groupVersionText(group, version), version }))

/** Group and version of what a subresource exchanges, when they are not the parent's. */
function foreignType(resource: ApiResource, sub: Subresource): GroupVersion | undefined {
  if (sub.group === undefined || sub.group === resource.group) return undefined
  // `group: ""` on subresources of named groups stands for "the parent's" in the table.
  return sub.group === '' ? undefined : { group: sub.group, version: SCALE_VERSION }
}

/** `/api` */
export function coreVersions(address: string): object {
  return {
    kind: 'APIVersions',
    versions: ['v1'],
    serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress: address }],
  }
}

/** `/apis` */
export function groupList(catalog: ResourceCatalog): object {
  return { kind: 'APIGroupList', apiVersion: 'v1', groups: [...catalog.groups()].map((group) => groupEntry(group)) }
}

/** `/apis/<group>`; `undefined` when the group is not served. */
export function groupDocument(catalog: ResourceCatalog, group: string): object | undefined {
  const versions = catalog.groups().get(group)
  return versions === undefined ? undefined : { kind: 'APIGroup', apiVersion: 'v1', ...groupEntry([group, versions]) }
}

function groupEntry([group, names]: [string, readonly string[]]): object {
  const versions = groupVersions(group, names)
  return { name: group, versions, preferredVersion: versions[0] }
}

/** `/api/v1` and `/apis/<group>/<version>`. @throws ApiError 404 when the version is not served */
export function resourceList(catalog: ResourceCatalog, groupVersion: GroupVersion): object {
  const resources = catalog.of(groupVersion)
  if (resources.length === 0) throw ApiError.notServed()
  return {
    kind: 'APIResourceList',
    ...(groupVersion.group === '' ? {} : { apiVersion: 'v1' }),
    groupVersion: groupVersionText(groupVersion.group, groupVersion.version),
    resources: resources.flatMap((resource) => [
      {
        name: resource.plural,
        singularName: resource.singular,
        namespaced: resource.namespaced,
        kind: resource.kind,
        verbs: resource.verbs,
        ...(resource.shortNames === undefined ? {} : { shortNames: resource.shortNames }),
        ...(resource.categories === undefined ? {} : { categories: resource.categories }),
        ...(resource.verbs.includes('watch') ? { storageVersionHash: storageHash(resource) } : {}),
      },
      ...(resource.subresources ?? []).map((sub) => ({
        name: `${resource.plural}/${sub.name}`,
        singularName: '',
        namespaced: resource.namespaced,
        ...foreignType(resource, sub),
        kind: sub.kind,
        verbs: sub.verbs,
      })),
    ]),
  }
}

function storageHash(resource: ApiResource): string {
  return Buffer.from(`${resource.apiVersion}/${resource.kind}`).toString('base64').slice(0, 12)
}

/** Aggregated discovery of `/api` (`core`) or `/apis`. */
export function aggregatedDiscovery(catalog: ResourceCatalog, scope: 'core' | 'named'): object {
  const groups: [string, readonly string[]][] = scope === 'core' ? [['', ['v1']]] : [...catalog.groups()]
  return {
    kind: 'APIGroupDiscoveryList',
    apiVersion: 'apidiscovery.k8s.io/v2',
    metadata: {},
    items: groups.map(([group, versions]) => ({
      metadata: group === '' ? {} : { name: group },
      versions: versions.map((version) => ({
        version,
        resources: catalog.of({ group, version }).map((resource) => aggregatedResource(resource)),
        freshness: 'Current',
      })),
    })),
  }
}

/** Built-in types of the resource's own group are written with empty group and version: clients take that as "the same". */
function aggregatedResource(resource: ApiResource): object {
  const { group, version, custom } = resource
  const own = custom === undefined ? { group: '', version: '' } : { group, version }
  return {
    resource: resource.plural,
    responseKind: { ...own, kind: resource.kind },
    scope: resource.namespaced ? 'Namespaced' : 'Cluster',
    singularResource: resource.singular,
    verbs: resource.verbs,
    ...(resource.shortNames === undefined ? {} : { shortNames: resource.shortNames }),
    ...(resource.categories === undefined ? {} : { categories: resource.categories }),
    ...(resource.subresources === undefined
      ? {}
      : {
          subresources: resource.subresources.map((sub) => ({
            subresource: sub.name,
            responseKind: { ...(foreignType(resource, sub) ?? own), kind: sub.kind },
            verbs: sub.verbs,
          })),
        }),
  }
}

/** `/version`: the release whose behaviour is followed. */
export function versionDocument(): object {
  return {
    major: '1',
    minor: '36',
    emulationMajor: '1',
    emulationMinor: '36',
    minCompatibilityMajor: '1',
    minCompatibilityMinor: '35',
    gitVersion: 'v1.36.0+causeway',
    gitCommit: '',
    gitTreeState: 'clean',
    buildDate: '1970-01-01T00:00:00Z',
    goVersion: '',
    compiler: 'node',
    platform: `${process.platform}/${process.arch}`,
  }
}

/** `/`: the paths there are. */
export function rootPaths(catalog: ResourceCatalog): object {
  const paths = new Set(['/api', '/api/v1', '/apis', '/healthz', '/livez', '/openapi/v2', '/openapi/v3', '/readyz'])
  for (const { group, apiVersion } of catalog.all()) {
    if (group === '') continue
    paths.add(`/apis/${group}`)
    paths.add(`/apis/${apiVersion}`)
  }
  paths.add('/version')
  return { paths: [...paths].sort() }
}
