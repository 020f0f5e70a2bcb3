import type { CustomKind } from '../custom-resources/custom-kind.ts'
import table from '../data/resources.json' with { type: 'json' }

export type Subresource = {
  name: string
  kind: string
  /** Absent: the parent's group. */
  group?: string
  verbs: readonly string[]
}

export type TableColumn = {
  name: string
  type: string
  format: string
  priority: number
  /** Absent: the one in the table of descriptions. */
  description?: string
}

/** A resource in one version, as the server serves it. */
export type ApiResource = {
  group: string
  version: string
  /** Whether this is the version clients should use. */
  preferred: boolean
  plural: string
  singular: string
  kind: string
  /** Kind of lists. @default the kind with `List` after it */
  listKind?: string
  namespaced: boolean
  verbs: readonly string[]
  shortNames?: readonly string[]
  categories?: readonly string[]
  subresources?: readonly Subresource[]
  columns?: readonly TableColumn[]
  /** `pods`, `deployments.apps`. */
  token: string
  /** `v1`, `apps/v1`. */
  apiVersion: string
  /** Absent: the kind is built in. */
  custom?: CustomKind
}

export type GroupVersion = { group: string; version: string }

const tokenOf = (plural: string, group: string): string => (group === '' ? plural : `${plural}.${group}`)

/** Everything that is served, in the order of discovery. */
export const API_RESOURCES: readonly ApiResource[] = (table as Omit<ApiResource, 'token' | 'apiVersion'>[]).map(
  (resource) => ({
    ...resource,
    token: tokenOf(resource.plural, resource.group),
    apiVersion: resource.group === '' ? resource.version : `${resource.group}/${resource.version}`,
  }),
)

const byPath = new Map(API_RESOURCES.map((resource) => [`${resource.apiVersion}/${resource.plural}`, resource]))
const byToken = new Map(
  API_RESOURCES.filter(({ preferred }) => preferred).map((resource) => [resource.token, resource]),
)

/** The resource served under a path; `undefined` when there is none. */
export function findResource(groupVersion: GroupVersion, plural: string): ApiResource | undefined {
  const { group, version } = groupVersion
  return byPath.get(`${group === '' ? version : `${group}/${version}`}/${plural}`)
}

/** The resource of a token in its preferred version. */
export function resourceByToken(token: string): ApiResource | undefined {
  return byToken.get(token)
}
