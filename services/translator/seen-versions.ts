import { forgetOldest } from '#libs/kernel'

/** Objects whose versions are remembered. */
const OBJECTS = 5_000
/** Versions remembered per object: as many as a busy one may go through before the outcome of a write is in. */
const VERSIONS = 8

/**
 * The versions of objects that the watch has shown lately. Versions are opaque, so that the echo of a write can be told
 * only by its very version, and that may have been overtaken by the next one already.
 */
export class SeenVersions {
  readonly #versions = new Map<string, string[]>()

  add(key: string, version: string): void {
    const versions = this.#versions.get(key) ?? []
    this.#versions.delete(key)
    this.#versions.set(key, [...versions.slice(-(VERSIONS - 1)), version])
    forgetOldest(this.#versions, OBJECTS)
  }

  has(key: string, version: string): boolean {
    return this.#versions.get(key)?.includes(version) ?? false
  }
}
