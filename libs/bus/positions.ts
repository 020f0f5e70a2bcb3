import { BusError } from './errors.ts'
import type { Bus } from './connection.ts'
import { type Kv, type KvOptions, openKv } from './kv.ts'

/** A stored position: where to go on, and under which fence it was stored. */
export type Position<T> = { fence: number; value: T }

/** Positions of readers, each moved on only by the latest owner of what it reads. */
export type Positions<T> = {
  get(key: string): Promise<Position<T> | undefined>
  /**
   * Stores a position, over any that was stored under the same fence or an older one.
   * @throws BusError `Fenced` when another owner with a newer fence has stored one: stop working at once
   */
  store(key: string, position: Position<T>): Promise<void>
  /** Stores a position under the fence in advance, so that an older owner can store none from now on. */
  claim(key: string, fence: number): Promise<Position<T> | undefined>
  delete(key: string): Promise<void>
  /** Tells of the positions under keys that match, and of every one that is stored, until the signal. */
  watch(filter: string, signal: AbortSignal): AsyncIterable<{ key: string; value: T }>
}

type Stored<T> = { fence: number; value?: T }

/** Opens the bucket of positions. `T` is a sequence, a resourceVersion, or whatever else says where to go on. */
export async function openPositions<T>(bus: Bus, options: Partial<KvOptions> = {}): Promise<Positions<T>> {
  const kv = await openKv<Stored<T>>(bus, { bucket: 'positions', description: 'where readers go on', ...options })
  return new FencedPositions<T>(kv)
}

class FencedPositions<T> implements Positions<T> {
  readonly #kv: Kv<Stored<T>>
  /** Revision and fence of the last value that was seen or written, so that a write needs no read. */
  readonly #last = new Map<string, { revision: number; fence: number }>()

  constructor(kv: Kv<Stored<T>>) {
    this.#kv = kv
  }

  async get(key: string): Promise<Position<T> | undefined> {
    return toPosition(await this.#read(key))
  }

  async store(key: string, position: Position<T>): Promise<void> {
    for (;;) {
      const last = this.#last.get(key)
      if (last !== undefined && last.fence > position.fence) throw fenced(key, position.fence, last.fence)
      const revision = await (last === undefined
        ? this.#kv.create(key, position)
        : this.#kv.update(key, position, last.revision))
      if (revision !== undefined) {
        this.#last.set(key, { revision, fence: position.fence })
        return
      }
      // Someone else has written, or this is the first write here: see who, and try again unless that is a newer owner.
      await this.#read(key)
    }
  }

  async claim(key: string, fence: number): Promise<Position<T> | undefined> {
    for (;;) {
      const stored = await this.#read(key)
      if (stored !== undefined && stored.fence > fence) throw fenced(key, fence, stored.fence)
      const last = this.#last.get(key)
      const claimed: Stored<T> = { ...stored, fence }
      const revision = await (last === undefined
        ? this.#kv.create(key, claimed)
        : this.#kv.update(key, claimed, last.revision))
      if (revision === undefined) continue
      this.#last.set(key, { revision, fence })
      return toPosition(stored)
    }
  }

  async delete(key: string): Promise<void> {
    await this.#kv.delete(key)
    this.#last.delete(key)
  }

  async *watch(filter: string, signal: AbortSignal): AsyncGenerator<{ key: string; value: T }, void, void> {
    for await (const event of this.#kv.watch({ filter, signal })) {
      if (event.type !== 'put' || event.value.value === undefined) continue
      yield { key: event.key, value: event.value.value }
    }
  }

  async #read(key: string): Promise<Stored<T> | undefined> {
    const entry = await this.#kv.get(key)
    if (entry === undefined) this.#last.delete(key)
    else this.#last.set(key, { revision: entry.revision, fence: entry.value.fence })
    return entry?.value
  }
}

function toPosition<T>(stored: Stored<T> | undefined): Position<T> | undefined {
  return stored?.value === undefined ? undefined : { fence: stored.fence, value: stored.value }
}

function fenced(key: string, own: number, newer: number): BusError {
  return new BusError(
    `position ${key} is held under fence ${newer}, newer than ${own}: another instance has taken over`,
    {
      code: 'Fenced',
    },
  )
}
