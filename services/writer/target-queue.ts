import type { LoggedIntent } from '#libs/events'
import { keyString } from '#libs/kube-model'
import { replaces } from './supersede.ts'

/** What the queue holds. */
export type Queued = { readonly intent: LoggedIntent }

type Node<T> = {
  item: T
  key: string
  running: boolean
  /** Whether it was handed out as ready. */
  announced: boolean
  /** How many unsettled items it still waits for. */
  blockers: number
  /** Items that wait for this one. */
  dependents: Node<T>[]
}

/**
 * Order among intents. Per target strictly serial, in the order of the log; a newer intent replaces a waiting older one
 * (see {@link replaces}); an intent with `needs` waits until what the log held before it for those targets is settled.
 *
 * Waiting never goes in circles: an item waits only for items that came before it, and one that steps into an older
 * one's place has no needs of its own.
 */
export class TargetQueue<T extends Queued> {
  readonly #lanes = new Map<string, Node<T>[]>()
  readonly #nodes = new Map<T, Node<T>>()

  /** How many items are not settled. */
  get size(): number {
    return this.#nodes.size
  }

  /**
   * Takes an item in. `superseded` are settled by this and must not be carried out; `ready` may be carried out now. Each
   * item is named as ready once.
   */
  add(item: T): { superseded: T[]; ready: T[] } {
    const node = this.#open(item)
    const lane = this.#lanes.get(node.key) ?? []
    this.#lanes.set(node.key, lane)
    const replaced = lane.filter((older) => !older.running && replaces(item.intent, older.item.intent))
    const ready: T[] = []
    this.#place(node, { lane, replaced })
    for (const older of replaced) {
      this.#nodes.delete(older.item)
      // What waited for the older one waits for the newer in its place, unless that could make a circle.
      if (isIndependent(item) && sameOp(older, node)) node.dependents.push(...older.dependents)
      else this.#release(older, ready)
    }
    this.#announce(lane[0], ready)
    return { superseded: replaced.map((older) => older.item), ready }
  }

  /** The item is being carried out: from now on nothing takes its place. */
  start(item: T): void {
    const node = this.#nodes.get(item)
    if (node !== undefined) node.running = true
  }

  /** The item waits for another try: until then a newer one may take its place. */
  postpone(item: T): void {
    const node = this.#nodes.get(item)
    if (node !== undefined) node.running = false
  }

  /** Whether the item is still to be settled. */
  has(item: T): boolean {
    return this.#nodes.has(item)
  }

  /** The item is settled. @returns items that may be carried out now */
  settle(item: T): T[] {
    const node = this.#nodes.get(item)
    if (node === undefined) return []
    this.#nodes.delete(item)
    const lane = this.#lanes.get(node.key) ?? []
    lane.splice(lane.indexOf(node), 1)
    if (lane.length === 0) this.#lanes.delete(node.key)
    const ready: T[] = []
    this.#announce(lane[0], ready)
    this.#release(node, ready)
    return ready
  }

  #open(item: T): Node<T> {
    const { target, needs } = item.intent
    const key = keyString(target)
    const node: Node<T> = { item, key, running: false, announced: false, blockers: 0, dependents: [] }
    for (const needed of new Set(needs.map((ref) => keyString({ tenant: target.tenant, ...ref })))) {
      if (needed === key) continue
      for (const blocker of this.#lanes.get(needed) ?? []) {
        blocker.dependents.push(node)
        node.blockers += 1
      }
    }
    this.#nodes.set(item, node)
    return node
  }

  #place(node: Node<T>, at: { lane: Node<T>[]; replaced: readonly Node<T>[] }): void {
    const { lane, replaced } = at
    const stepsIn = isIndependent(node.item) ? replaced.find((older) => sameOp(older, node)) : undefined
    if (stepsIn === undefined) lane.push(node)
    else lane[lane.indexOf(stepsIn)] = node
    for (const older of replaced) if (older !== stepsIn) lane.splice(lane.indexOf(older), 1)
  }

  #release(node: Node<T>, ready: T[]): void {
    for (const dependent of node.dependents) {
      dependent.blockers -= 1
      if (this.#lanes.get(dependent.key)?.[0] === dependent) this.#announce(dependent, ready)
    }
    node.dependents = []
  }

  #announce(node: Node<T> | undefined, ready: T[]): void {
    if (node === undefined || node.announced || node.blockers > 0) return
    node.announced = true
    ready.push(node.item)
  }
}

function isIndependent(item: Queued): boolean {
  return item.intent.needs.length === 0
}

function sameOp<T extends Queued>(a: Node<T>, b: Node<T>): boolean {
  return a.item.intent.write.op === b.item.intent.write.op
}
