import type { Clock } from '#libs/kernel'
import { ChildAbort } from './child-abort.ts'

/** After a change of a definition: when its kind may be served, and when it surely is. */
const SOON_MS = 100
const SURE_MS = 2_000

/**
 * What the watches of one cluster tell one another about definitions: which kinds are not served, and that the
 * definition of one has changed. Who backs off since its kind is not served need not wait out its delay then.
 */
export class DefinitionNews {
  readonly #kinds = new Map<string, KindNews>()
  readonly #missing = new Set<string>()
  #changed = Promise.withResolvers<void>()

  /** Kinds that the cluster does not serve, by the names that their definitions would have. */
  get missing(): ReadonlySet<string> {
    return this.#missing
  }

  /** Notes whether a kind is not served. */
  note(kind: string, isMissing: boolean): void {
    if (this.#missing.has(kind) === isMissing) return
    if (isMissing) this.#missing.add(kind)
    else this.#missing.delete(kind)
    this.#changed.resolve()
    this.#changed = Promise.withResolvers()
  }

  /** Resolves when another kind is missing, or one is no more. */
  changed(): Promise<void> {
    return this.#changed.promise
  }

  /** Notes that a definition has changed. Changes that come together wake together. */
  announce(kind: string): void {
    this.#kinds.get(kind)?.announce()
  }

  /** The same clock, but that it sleeps no longer than until there are news of the kind's definition. */
  clock(clock: Clock, kind: string): Clock {
    const news = this.#kinds.get(kind) ?? new KindNews()
    this.#kinds.set(kind, news)
    return {
      now: () => clock.now(),
      sleep: async (ms, signal) => {
        const woken = new ChildAbort(news.signal)
        const onAbort = (): void => woken.abort()
        signal?.addEventListener('abort', onAbort, { once: true })
        try {
          signal?.throwIfAborted()
          await clock.sleep(ms, woken.signal)
        } catch {
          signal?.throwIfAborted()
        } finally {
          signal?.removeEventListener('abort', onAbort)
          woken.close()
        }
      },
    }
  }
}

class KindNews {
  #news = new AbortController()
  #soon: NodeJS.Timeout | undefined
  #sure: NodeJS.Timeout | undefined

  /** Aborts with the next news. */
  get signal(): AbortSignal {
    return this.#news.signal
  }

  announce(): void {
    if (this.#soon === undefined) {
      this.#soon = setTimeout(() => {
        this.#soon = undefined
        this.#wake()
      }, SOON_MS).unref()
    }
    clearTimeout(this.#sure)
    this.#sure = setTimeout(() => this.#wake(), SURE_MS).unref()
  }

  #wake(): void {
    this.#news.abort()
    this.#news = new AbortController()
  }
}
