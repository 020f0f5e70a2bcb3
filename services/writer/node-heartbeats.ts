import type { Clock } from '#libs/kernel'
import { RESOURCES } from '#libs/kube-model'
import { LABELS } from '#libs/translation'
import { beat } from './node-lease.ts'
import type { WriterClient } from './ports.ts'

/** `renewed` and `created` leases, and beats that `failed`: of one node, or of all that a tenant has when it cannot be asked. */
export const BEAT_RESULTS = ['renewed', 'created', 'failed'] as const
export type BeatResult = (typeof BEAT_RESULTS)[number]

export type NodeHeartbeatsOptions = {
  /** Tenants whose nodes are kept alive, right now. */
  tenants: () => string[]
  client: (tenant: string) => WriterClient | undefined
  /** Whether beats are right at all: the partition is ours, and the host can be reached. */
  mayBeat: () => Promise<boolean>
  /** How often each lease is renewed, in milliseconds. A lease lasts 40 s. */
  everyMs: number
  clock: Clock
  random: () => number
  counted: (result: BeatResult) => void
  /** Ends the beating. */
  signal: AbortSignal
}

/** The virtual nodes of a tenant by name, with their uids. */
type TenantNodes = {
  nodes: Map<string, string>
  /** Those of them that were just made and have had no beat yet. */
  fresh: Set<string>
  /** When all of them must be asked for again, ms since the epoch. */
  listAt: number
  nextAt: number
  isBeating: boolean
}

/** How often it is looked whose turn has come. */
const TICK_MS = 1_000

/** All nodes are asked for again after so many beats: the tenant may have made or removed some itself. */
const BEATS_PER_LIST = 20

/** Beats of one tenant under way at once. */
const PARALLEL = 8

const CALL_TIMEOUT_MS = 5_000

/**
 * Renews the leases of tenants' virtual nodes, as their kubelets would: without that a tenant's controller manager takes
 * the nodes for lost and evicts their pods. Every tenant has a rhythm of its own; one whose API hangs delays nobody else.
 * A tenant without virtual nodes costs one list in five minutes.
 */
export class NodeHeartbeats {
  readonly #options: NodeHeartbeatsOptions
  readonly #tenants = new Map<string, TenantNodes>()

  constructor(options: NodeHeartbeatsOptions) {
    this.#options = options
  }

  /** Beats until the signal aborts. Never rejects. */
  async run(): Promise<void> {
    const { clock, signal, everyMs } = this.#options
    while (!signal.aborted) {
      this.#tick()
      await clock.sleep(Math.min(TICK_MS, everyMs), signal).catch(() => undefined)
    }
  }

  /** A virtual node was made: its first beat comes at once, and the others keep their rhythm. */
  made(tenant: string, node: { name: string; uid: string }): void {
    const { nodes, fresh } = this.#state(tenant)
    nodes.set(node.name, node.uid)
    fresh.add(node.name)
  }

  /** A virtual node was removed. */
  gone(tenant: string, name: string): void {
    const state = this.#tenants.get(tenant)
    state?.nodes.delete(name)
    state?.fresh.delete(name)
  }

  #tick(): void {
    const { clock, random, everyMs } = this.#options
    const now = clock.now()
    const current = new Set(this.#options.tenants())
    for (const tenant of this.#tenants.keys()) if (!current.has(tenant)) this.#tenants.delete(tenant)
    for (const tenant of current) {
      const state = this.#state(tenant)
      const isTurn = now >= state.nextAt
      if (state.isBeating || (!isTurn && state.fresh.size === 0)) continue
      if (isTurn) state.nextAt = now + everyMs * (0.9 + 0.2 * random())
      state.isBeating = true
      void this.#beatAll(tenant, state, { onlyFresh: !isTurn }).finally(() => {
        state.isBeating = false
      })
    }
  }

  async #beatAll(tenant: string, state: TenantNodes, { onlyFresh }: { onlyFresh: boolean }): Promise<void> {
    const { mayBeat, counted, signal } = this.#options
    const client = this.#options.client(tenant)
    if (client === undefined || !(await mayBeat()) || signal.aborted) return
    try {
      if (!onlyFresh) await this.#list(client, state)
    } catch {
      state.listAt = 0
      if (!signal.aborted) counted('failed')
      if (state.nodes.size === 0) return
    }
    const waiting = [...state.nodes].filter(([name]) => !onlyFresh || state.fresh.has(name))
    state.fresh.clear()
    const worker = async (): Promise<void> => {
      for (let next = waiting.shift(); next !== undefined && !signal.aborted; next = waiting.shift()) {
        const [name, uid] = next
        const result = await beat(client, { name, uid }, this.#options.clock.now(), this.#call()).catch(
          (): BeatResult => 'failed',
        )
        if (!signal.aborted) counted(result)
      }
    }
    await Promise.all(Array.from({ length: Math.min(PARALLEL, waiting.length) }, worker))
  }

  async #list(client: WriterClient, state: TenantNodes): Promise<void> {
    const { clock, everyMs } = this.#options
    const now = clock.now()
    if (now < state.listAt) return
    state.listAt = now + BEATS_PER_LIST * everyMs
    const labelSelector = `${LABELS.virtualNode}=true`
    const nodes = new Map<string, string>()
    for await (const { items } of client.listPages(RESOURCES.nodes, { ...this.#call(), labelSelector })) {
      for (const { metadata } of items) nodes.set(metadata.name ?? '', metadata.uid ?? '')
    }
    // What was made meanwhile may not be among them.
    for (const name of state.fresh) nodes.set(name, state.nodes.get(name) ?? '')
    state.nodes = nodes
  }

  #call(): { signal: AbortSignal; timeoutMs: number } {
    return { signal: this.#options.signal, timeoutMs: CALL_TIMEOUT_MS }
  }

  #state(tenant: string): TenantNodes {
    const existing = this.#tenants.get(tenant)
    if (existing !== undefined) return existing
    const { clock, random, everyMs } = this.#options
    // Spread, but soon: whoever renewed them before may have stopped long ago.
    const nextAt = clock.now() + (random() * everyMs) / 3
    const state = { nodes: new Map<string, string>(), fresh: new Set<string>(), listAt: 0, nextAt, isBeating: false }
    this.#tenants.set(tenant, state)
    return state
  }
}
