import type { StoredVersion } from './stored-object.ts'

const byName = (a: StoredVersion, b: StoredVersion): number => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0)

type Namespaced = { objects: Map<string, StoredVersion>; sorted: readonly StoredVersion[] | undefined }

/** The current objects of one resource, listed by namespace, then name. */
export class ResourceIndex {
  readonly #namespaces = new Map<string, Namespaced>()
  #sortedNames: readonly string[] | undefined

  get(namespace: string, name: string): StoredVersion | undefined {
    return this.#namespaces.get(namespace)?.objects.get(name)
  }

  set(stored: StoredVersion): void {
    let entry = this.#namespaces.get(stored.namespace)
    if (entry === undefined) {
      entry = { objects: new Map(), sorted: undefined }
      this.#namespaces.set(stored.namespace, entry)
      this.#sortedNames = undefined
    }
    entry.objects.set(stored.name, stored)
    entry.sorted = undefined
  }

  delete(namespace: string, name: string): void {
    const entry = this.#namespaces.get(namespace)
    if (entry === undefined) return
    entry.objects.delete(name)
    entry.sorted = undefined
    if (entry.objects.size > 0) return
    this.#namespaces.delete(namespace)
    this.#sortedNames = undefined
  }

  /** Objects of one namespace, or of all. The result is not to be changed. */
  list(namespace?: string): readonly StoredVersion[] {
    if (namespace !== undefined) return this.#listNamespace(namespace)
    this.#sortedNames ??= [...this.#namespaces.keys()].sort()
    const [only] = this.#sortedNames
    if (this.#sortedNames.length === 1 && only !== undefined) return this.#listNamespace(only)
    return this.#sortedNames.flatMap((name) => this.#listNamespace(name))
  }

  #listNamespace(namespace: string): readonly StoredVersion[] {
    const entry = this.#namespaces.get(namespace)
    if (entry === undefined) return []
    entry.sorted ??= [...entry.objects.values()].sort(byName)
    return entry.sorted
  }
}
