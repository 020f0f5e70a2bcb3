import { JetStreamApiError, type JetStreamClient, jetstream } from '@nats-io/jetstream'
import { type KV, type KvEntry as StoredEntry, Kvm } from '@nats-io/kv'
import { type Clock, errorMessage, systemClock } from '#libs/kernel'
import type { Bus } from './connection.ts'
import { BusError } from './errors.ts'
import { watchKv } from './kv-watch.ts'
import { whileConnected } from './while-connected.ts'

export type KvOptions = {
  bucket: string
  /** Copies of each value: 1 on one machine, 3 in a cluster. @default 1 */
  replicas?: number
  /** Values go this long after they were last written, in milliseconds. @default never */
  ttlMs?: number
  description?: string
  clock?: Clock
}

/** A value as stored. The revision grows with every write to the bucket and never repeats. */
export type KvEntry<T> = { key: string; value: T; revision: number }

/** What a watch tells: first all there is, then `ready`, then what happens. */
export type KvEvent<T> = ({ type: 'put' } & KvEntry<T>) | { type: 'delete'; key: string } | { type: 'ready' }

/**
 * A bucket of JSON values. Keys consist of letters, digits, `-`, `_`, `=`, `/` and dots between tokens. All operations
 * are tried again while the connection is down, until their time is up.
 */
export type Kv<T> = {
  readonly bucket: string
  /** The value of a key as the bucket's leader has it, or undefined. */
  get(key: string): Promise<KvEntry<T> | undefined>
  /** Writes a value whatever is there. @returns its revision */
  put(key: string, value: T): Promise<number>
  /** Writes a value if there is none. @returns its revision, or undefined when there is one */
  create(key: string, value: T): Promise<number | undefined>
  /** Writes a value if the present one has that revision. @returns the new revision, or undefined when it has not */
  update(key: string, value: T, revision: number): Promise<number | undefined>
  /** Removes a key, if it has that revision where one is given. @returns whether it was removed */
  delete(key: string, revision?: number): Promise<boolean>
  /** All there is now under keys that match (`a.*`, `a.>`; all by default). */
  list(filter?: string): Promise<KvEntry<T>[]>
  /** All there is and all that happens, through any interruption, until the signal. */
  watch(options?: { filter?: string; signal?: AbortSignal }): AsyncIterable<KvEvent<T>>
}

const wrongLastSequence = [10_071, 10_164]
/** Time for one operation, over all its attempts. */
const operationMs = 15_000
const attemptMs = 3_000

/**
 * Opens a bucket, and makes it when there is none.
 * @throws BusError `KvFailed`
 */
export async function openKv<T>(bus: Bus, options: KvOptions): Promise<Kv<T>> {
  const { bucket, replicas = 1, ttlMs, clock = systemClock } = options
  const js = jetstream(bus.nats, { timeout: attemptMs })
  const kv = await attempt({ bus, clock }, `open bucket ${bucket}`, () => openBucket(js, options, { replicas, ttlMs }))
  return new JsonBucket<T>({ bus, kv, bucket, clock })
}

function openBucket(
  js: JetStreamClient,
  options: KvOptions,
  limits: { replicas: number; ttlMs: number | undefined },
): Promise<KV> {
  return new Kvm(js).create(options.bucket, {
    replicas: limits.replicas,
    history: 1,
    description: options.description ?? '',
    // Replicas may lag; what decides on ownership and positions must be read where it is written.
    allow_direct: false,
    // Markers tell watchers of values that went by age.
    ...(limits.ttlMs === undefined ? {} : { ttl: limits.ttlMs, markerTTL: Math.max(60_000, limits.ttlMs * 4) }),
  })
}

class JsonBucket<T> implements Kv<T> {
  readonly bucket: string
  readonly #bus: Bus
  readonly #kv: KV
  readonly #clock: Clock

  constructor(parts: { bus: Bus; kv: KV; bucket: string; clock: Clock }) {
    this.bucket = parts.bucket
    this.#bus = parts.bus
    this.#kv = parts.kv
    this.#clock = parts.clock
  }

  async get(key: string): Promise<KvEntry<T> | undefined> {
    const entry = await this.#attempt(`read ${key}`, () => this.#kv.get(key))
    return entry === null || entry.operation !== 'PUT' ? undefined : parseEntry<T>(entry)
  }

  put(key: string, value: T): Promise<number> {
    return this.#attempt(`write ${key}`, () => this.#kv.put(key, JSON.stringify(value)))
  }

  async create(key: string, value: T): Promise<number | undefined> {
    return await this.#conditional(`create ${key}`, { key, value }, () => this.#kv.create(key, JSON.stringify(value)))
  }

  async update(key: string, value: T, revision: number): Promise<number | undefined> {
    const write = () => this.#kv.update(key, JSON.stringify(value), revision)
    return await this.#conditional(`update ${key}`, { key, value }, write)
  }

  async delete(key: string, revision?: number): Promise<boolean> {
    try {
      const options = revision === undefined ? {} : { previousSeq: revision }
      await this.#attempt(`delete ${key}`, () => this.#kv.delete(key, options))
      return true
    } catch (error) {
      if (!isConflict(error)) throw error
      // The first attempt may have done it, and only its answer was lost.
      return (await this.get(key)) === undefined
    }
  }

  async list(filter?: string): Promise<KvEntry<T>[]> {
    const entries: KvEntry<T>[] = []
    for await (const event of this.watch(filter === undefined ? {} : { filter })) {
      if (event.type === 'ready') break
      if (event.type === 'put') entries.push({ key: event.key, value: event.value, revision: event.revision })
    }
    return entries
  }

  watch(options: { filter?: string; signal?: AbortSignal } = {}): AsyncIterable<KvEvent<T>> {
    return watchKv<T>(this.#bus, { bucket: this.bucket, clock: this.#clock, ...options })
  }

  /** A conflict after a lost answer may be with our own write: what is stored tells. */
  async #conditional(
    what: string,
    written: { key: string; value: T },
    write: () => Promise<number>,
  ): Promise<number | undefined> {
    let attempts = 0
    try {
      return await this.#attempt(what, () => {
        attempts += 1
        return write()
      })
    } catch (error) {
      if (!isConflict(error)) throw error
      if (attempts === 1) return undefined
      const stored = await this.get(written.key)
      return JSON.stringify(stored?.value) === JSON.stringify(written.value) ? stored?.revision : undefined
    }
  }

  #attempt<R>(what: string, call: () => Promise<R>): Promise<R> {
    return attempt({ bus: this.#bus, clock: this.#clock }, `${what} in bucket ${this.bucket}`, call)
  }
}

function parseEntry<T>(entry: StoredEntry): KvEntry<T> {
  return { key: entry.key, value: entry.json<T>(), revision: entry.revision }
}

function isConflict(error: unknown): boolean {
  return error instanceof JetStreamApiError && wrongLastSequence.includes(error.code)
}

/** Calls again while the server does not answer. What it answers, good or bad, is final. */
async function attempt<R>(
  { bus, clock }: { bus: Bus; clock: Clock },
  what: string,
  call: () => Promise<R>,
): Promise<R> {
  const deadline = clock.now() + operationMs
  for (;;) {
    try {
      return await whileConnected(bus, call)
    } catch (error) {
      if (isConflict(error)) throw error
      const isAnswer = error instanceof JetStreamApiError && error.status < 500
      if (isAnswer || bus.nats.isClosed() || clock.now() > deadline) {
        const message = `could not ${what}: ${errorMessage(error)}`
        throw new BusError(message, { code: 'KvFailed', retry: isAnswer ? 'never' : 'backoff', cause: error })
      }
    }
    await clock.sleep(100)
  }
}
