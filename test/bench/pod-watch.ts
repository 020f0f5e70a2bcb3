import { setTimeout as sleep } from 'node:timers/promises'
import { CausewayError, systemClock } from '#libs/kernel'
import { type KubeClient, reflect } from '#libs/kube'
import { type KubeObject, RESOURCES } from '#libs/kube-model'

/** What has been seen of a pod on one cluster, times in ms since the epoch. */
export type Sighting = {
  createdAt: number
  runningAt: number | undefined
  changedAt: number
  /** The message of its status. */
  message: string | undefined
}

/** Watches a cluster's pods as any client would and notes when it saw what. */
export class PodWatch {
  /** By `id`; pods that are gone are not there. */
  readonly pods = new Map<string, Sighting>()
  #running = 0
  readonly #idOf: (pod: KubeObject) => string | undefined
  readonly #stop = new AbortController()
  readonly #done: Promise<void>
  #isReady = false

  /** @param idOf names the pods of interest */
  constructor(client: KubeClient, idOf: (pod: KubeObject) => string | undefined) {
    this.#idOf = idOf
    this.#done = this.#follow(client)
    this.#done.catch(() => undefined)
  }

  /** How many of the pods run. */
  get running(): number {
    return this.#running
  }

  async ready(): Promise<void> {
    await until(() => this.#isReady, { what: 'the watch', timeoutMs: 30_000 })
  }

  async close(): Promise<void> {
    this.#stop.abort(new Error('the watch is closed'))
    await this.#done
  }

  async #follow(client: KubeClient): Promise<void> {
    const { signal } = this.#stop
    const clock = systemClock
    for await (const event of reflect({ client, resource: RESOURCES.pods, clock, random: Math.random, signal })) {
      if (event.type === 'STATE') this.#isReady ||= event.state === 'watching'
      if (event.type === 'ADDED' || event.type === 'MODIFIED') this.#note(event.object, event.observedAt)
      if (event.type === 'DELETED') {
        const id = this.#idOf(event.object)
        if (id === undefined) continue
        if (this.pods.get(id)?.runningAt !== undefined) this.#running--
        this.pods.delete(id)
      }
    }
  }

  #note(object: KubeObject, at: number): void {
    const id = this.#idOf(object)
    if (id === undefined) return
    const before = this.pods.get(id)
    const status = object['status'] as { phase?: string; message?: string } | undefined
    const isRunning = status?.phase === 'Running'
    if (isRunning && before?.runningAt === undefined) this.#running++
    this.pods.set(id, {
      createdAt: before?.createdAt ?? at,
      runningAt: before?.runningAt ?? (isRunning ? at : undefined),
      changedAt: at,
      message: status?.message,
    })
  }
}

const POLL_MS = 5

/** @throws CausewayError `BenchFailed` naming what did not come */
export async function until(
  isSo: () => boolean,
  options: { what: string; timeoutMs: number; state?: () => string },
): Promise<void> {
  const deadline = systemClock.now() + options.timeoutMs
  while (!isSo()) {
    if (systemClock.now() > deadline) {
      const state = options.state === undefined ? '' : ` (${options.state()})`
      throw new CausewayError(`${options.what} did not come in ${options.timeoutMs / 1000} s${state}`, {
        code: 'BenchFailed',
      })
    }
    await sleep(POLL_MS)
  }
}
