import type { ObjectRef } from '#libs/kube-model'

/** An object as it was last published. */
export type Known = { tenant: string; namespace: string; name: string; uid: string; resourceVersion: string }

/** The objects of one kind on one cluster that the log says exist, by name. */
export class KnownObjects {
  readonly #objects = new Map<string, Known>()

  get size(): number {
    return this.#objects.size
  }

  get(ref: Pick<ObjectRef, 'namespace' | 'name'>): Known | undefined {
    return this.#objects.get(nameOf(ref))
  }

  set(known: Known): void {
    this.#objects.set(nameOf(known), known)
  }

  /** Forgets an object, unless another uid has its name by now. */
  delete(known: Pick<Known, 'namespace' | 'name' | 'uid'>): void {
    if (this.get(known)?.uid === known.uid) this.#objects.delete(nameOf(known))
  }

  forgetTenant(tenant: string): void {
    for (const [name, known] of this.#objects) if (known.tenant === tenant) this.#objects.delete(name)
  }

  values(): IterableIterator<Known> {
    return this.#objects.values()
  }
}

/** Names contain no `/`. */
export function nameOf(ref: Pick<ObjectRef, 'namespace' | 'name'>): string {
  return `${ref.namespace}/${ref.name}`
}
