/** Urgent work goes before bulk work. */
export type Urgency = 'urgent' | 'bulk'

export type SchedulerOptions = {
  /** Share of a tenant relative to the others, at least 1. @default 1 for each */
  weight?: (tenant: string) => number
  /** How much of one tenant may be under way at once. @default no limit */
  maxPerTenant?: () => number
  /** After so many urgent items in a row one of the bulk goes, if any waits. @default 8 */
  urgentRun?: number
}

type Lane<T> = {
  tenant: string
  deficit: number
  /** In order of arrival; removal from the middle is cheap. */
  items: Set<T>
}

/**
 * Deficit round robin among tenants, in two classes: a tenant gets its weight's share whatever it queues, and urgent
 * items go first without starving the others. Each step costs the same however many tenants there are; a tenant with
 * nothing queued and nothing under way costs nothing.
 */
export class FairScheduler<T> {
  readonly #rings: Record<Urgency, Ring<T>>
  readonly #running = new Map<string, number>()
  readonly #options: Required<SchedulerOptions>
  #urgentInARow = 0

  constructor(options: SchedulerOptions = {}) {
    this.#options = { weight: () => 1, maxPerTenant: () => Infinity, urgentRun: 8, ...options }
    const weight = (tenant: string): number => Math.max(1, Math.floor(this.#options.weight(tenant)))
    this.#rings = { urgent: new Ring(weight), bulk: new Ring(weight) }
  }

  /** How many items wait, in one class or in all. */
  size(urgency?: Urgency): number {
    if (urgency !== undefined) return this.#rings[urgency].size
    return this.#rings.urgent.size + this.#rings.bulk.size
  }

  /** How many items are under way. */
  get running(): number {
    let sum = 0
    for (const count of this.#running.values()) sum += count
    return sum
  }

  add(item: T, at: { tenant: string; urgency: Urgency }): void {
    this.#rings[at.urgency].add(item, { tenant: at.tenant, blocked: this.#isFull(at.tenant) })
  }

  /** Takes a waiting item out. @returns whether it was waiting */
  remove(item: T, at: { tenant: string; urgency: Urgency }): boolean {
    return this.#rings[at.urgency].remove(item, at.tenant)
  }

  /** The item to go next, counted as under way until {@link done}; undefined when none may. */
  next(): T | undefined {
    const { urgent, bulk } = this.#rings
    const bulkIsDue = this.#urgentInARow >= this.#options.urgentRun && bulk.hasReady
    const ring = urgent.hasReady && !bulkIsDue ? urgent : bulk
    const taken = ring.take()
    if (taken === undefined) return undefined
    this.#urgentInARow = ring === urgent ? this.#urgentInARow + 1 : 0
    this.#running.set(taken.tenant, (this.#running.get(taken.tenant) ?? 0) + 1)
    if (this.#isFull(taken.tenant)) {
      urgent.block(taken.tenant)
      bulk.block(taken.tenant)
    }
    return taken.item
  }

  /** An item of this tenant is no longer under way. */
  done(tenant: string): void {
    const left = (this.#running.get(tenant) ?? 1) - 1
    if (left > 0) this.#running.set(tenant, left)
    else this.#running.delete(tenant)
    if (this.#isFull(tenant)) return
    this.#rings.urgent.unblock(tenant)
    this.#rings.bulk.unblock(tenant)
  }

  #isFull(tenant: string): boolean {
    return (this.#running.get(tenant) ?? 0) >= this.#options.maxPerTenant()
  }
}

/** Tenants that have something waiting; those that may go now take turns. */
class Ring<T> {
  readonly #lanes = new Map<string, Lane<T>>()
  /** In the order of their turns. */
  readonly #turns = new Set<Lane<T>>()
  readonly #weight: (tenant: string) => number
  size = 0

  constructor(weight: (tenant: string) => number) {
    this.#weight = weight
  }

  get hasReady(): boolean {
    return this.#turns.size > 0
  }

  add(item: T, at: { tenant: string; blocked: boolean }): void {
    let lane = this.#lanes.get(at.tenant)
    if (lane === undefined) {
      lane = { tenant: at.tenant, deficit: 0, items: new Set() }
      this.#lanes.set(at.tenant, lane)
      if (!at.blocked) this.#turns.add(lane)
    }
    lane.items.add(item)
    this.size += 1
  }

  remove(item: T, tenant: string): boolean {
    const lane = this.#lanes.get(tenant)
    if (lane === undefined || !lane.items.delete(item)) return false
    this.size -= 1
    if (lane.items.size === 0) this.#drop(lane)
    return true
  }

  take(): { item: T; tenant: string } | undefined {
    for (const lane of this.#turns) {
      for (const item of lane.items) {
        if (lane.deficit < 1) lane.deficit += this.#weight(lane.tenant)
        lane.deficit -= 1
        lane.items.delete(item)
        this.size -= 1
        if (lane.items.size === 0) this.#drop(lane)
        else if (lane.deficit < 1) this.#toTheEnd(lane)
        return { item, tenant: lane.tenant }
      }
    }
    return undefined
  }

  block(tenant: string): void {
    const lane = this.#lanes.get(tenant)
    if (lane !== undefined) this.#turns.delete(lane)
  }

  unblock(tenant: string): void {
    const lane = this.#lanes.get(tenant)
    if (lane !== undefined) this.#turns.add(lane)
  }

  #toTheEnd(lane: Lane<T>): void {
    this.#turns.delete(lane)
    this.#turns.add(lane)
  }

  #drop(lane: Lane<T>): void {
    this.#lanes.delete(lane.tenant)
    this.#turns.delete(lane)
  }
}
