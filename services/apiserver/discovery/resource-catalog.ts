import { API_RESOURCES, findResource, resourceByToken } from './resources.ts'
import type { ApiResource, GroupVersion } from './resources.ts'
import { compareVersions } from './version-order.ts'

type CustomResources = { served: readonly ApiResource[]; storage: ApiResource }

const BUILT_IN_GROUPS = new Set(API_RESOURCES.map(({ group }) => group))

/** What one cluster serves: the built-in resources and those of its CustomResourceDefinitions. */
export class ResourceCatalog {
  readonly #custom = new Map<string, CustomResources>()
  readonly #listeners = new Set<() => void>()
  #all: readonly ApiResource[] = API_RESOURCES

  /** Everything that is served, in the order of discovery. */
  all(): readonly ApiResource[] {
    return this.#all
  }

  /** The resource served under a path; `undefined` when there is none. */
  find(groupVersion: GroupVersion, plural: string): ApiResource | undefined {
    const { group, version } = groupVersion
    return (
      findResource(groupVersion, plural) ??
      this.#custom.get(`${plural}.${group}`)?.served.find((resource) => resource.version === version)
    )
  }

  /** The resource of a token: built-in ones in their preferred version, custom ones in the stored one. */
  byToken(token: string): ApiResource | undefined {
    return resourceByToken(token) ?? this.#custom.get(token)?.storage
  }

  /** Resources of a group version; empty when it is not served. */
  of(groupVersion: GroupVersion): readonly ApiResource[] {
    return this.#all.filter(({ group, version }) => group === groupVersion.group && version === groupVersion.version)
  }

  /** Named groups with their versions, the preferred one first. */
  groups(): ReadonlyMap<string, readonly string[]> {
    const groups = new Map<string, string[]>()
    for (const { group, version } of this.#all) {
      if (group === '') continue
      const versions = groups.get(group)
      if (versions === undefined) groups.set(group, [version])
      else if (!versions.includes(version)) versions.push(version)
    }
    for (const [group, versions] of groups) if (!isBuiltInGroup(group)) versions.sort(compareVersions)
    return groups
  }

  /** Serves these for a token from now on; `undefined`: nothing any more. */
  setCustom(token: string, resources: CustomResources | undefined): void {
    if (resources === undefined) {
      if (!this.#custom.delete(token)) return
    } else this.#custom.set(token, resources)
    this.#all = [...API_RESOURCES, ...[...this.#custom.values()].flatMap(({ served }) => served)]
    for (const listener of this.#listeners) listener()
  }

  /** Calls back after what is served has changed. @returns stops the calls */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }
}

/** Whether resources of the group come with the server. */
export function isBuiltInGroup(group: string): boolean {
  return BUILT_IN_GROUPS.has(group)
}
