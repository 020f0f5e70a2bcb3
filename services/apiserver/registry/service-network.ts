import type { KubeObject } from '#libs/kube-model'
import type { ClusterStore } from '../storage/store.ts'

export type ServiceNetworkOptions = {
  /** IPv4 range of service addresses. @default "10.96.0.0/16" */
  serviceCidr?: string
  /**
   * `allocate`: a Service without an address gets one from the range, and node ports if it needs them. `open`: it stays
   * without until somebody sets them, and any free ones are accepted; for clusters whose Services take them from
   * elsewhere.
   * @default "allocate"
   */
  serviceClusterIP?: 'allocate' | 'open'
}

export const NODE_PORTS = { first: 30_000, last: 32_767 } as const

/** Why an address or port cannot be had. */
type AllocationProblem = 'allocated' | 'out of range' | 'full'

export type Allocation<T> = { value: T } | { problem: AllocationProblem }

type ServiceSpec = {
  clusterIP?: string
  clusterIPs?: string[]
  healthCheckNodePort?: number
  ports?: { nodePort?: number }[]
}

/**
 * Which service addresses and node ports are in use. What is in use is what stored Services hold, so nothing can leak:
 * an allocation counts once its Service is written.
 */
export class ServiceNetwork {
  readonly mode: 'allocate' | 'open'
  readonly #first: number
  readonly #size: number
  readonly #addresses = new Map<string, number>()
  readonly #ports = new Map<number, number>()
  #nextAddress: number
  #nextPort = 0

  constructor(store: ClusterStore, options: ServiceNetworkOptions = {}) {
    this.mode = options.serviceClusterIP ?? 'allocate'
    const [address = '', bits = ''] = (options.serviceCidr ?? '10.96.0.0/16').split('/')
    this.#size = 2 ** (32 - Number(bits))
    const base = addressNumber(address)
    this.#first = base - (base % this.#size)
    // The first addresses are left to those who ask for one, such as the API's own Service and the DNS.
    this.#nextAddress = Math.max(1, Math.min(256, Math.floor(this.#size / 16)))
    for (const { object } of store.list('services')) this.#count(object, 1)
    store.subscribe('services', ({ type, current, previous }) => {
      if (type !== 'DELETED') this.#count(current.object, 1)
      if (previous !== undefined) this.#count(previous.object, -1)
    })
  }

  /** The address of the API server's own Service. */
  get firstAddress(): string {
    return addressText(this.#first + 1)
  }

  /** Finds a free address, or checks the wanted one. `taken` are those of the same request. */
  address(wanted?: string, taken: ReadonlySet<string> = new Set()): Allocation<string> {
    if (wanted !== undefined) {
      const offset = addressNumber(wanted) - this.#first
      if (this.mode === 'allocate' && !(offset > 0 && offset < this.#size - 1)) return { problem: 'out of range' }
      return this.#addresses.has(wanted) || taken.has(wanted) ? { problem: 'allocated' } : { value: wanted }
    }
    for (let tries = 0; tries < this.#size; tries++) {
      const offset = this.#nextAddress
      this.#nextAddress = offset + 1 >= this.#size - 1 ? 1 : offset + 1
      const candidate = addressText(this.#first + offset)
      if (!this.#addresses.has(candidate) && !taken.has(candidate)) return { value: candidate }
    }
    return { problem: 'full' }
  }

  /** Finds a free node port, or checks the wanted one. `taken` are those of the same request. */
  nodePort(wanted?: number, taken: ReadonlySet<number> = new Set()): Allocation<number> {
    const count = NODE_PORTS.last - NODE_PORTS.first + 1
    if (wanted !== undefined) {
      const isInRange = wanted >= NODE_PORTS.first && wanted <= NODE_PORTS.last
      if (this.mode === 'allocate' && !isInRange) return { problem: 'out of range' }
      return this.#ports.has(wanted) || taken.has(wanted) ? { problem: 'allocated' } : { value: wanted }
    }
    for (let tries = 0; tries < count; tries++) {
      const candidate = NODE_PORTS.first + this.#nextPort
      this.#nextPort = (this.#nextPort + 1) % count
      if (!this.#ports.has(candidate) && !taken.has(candidate)) return { value: candidate }
    }
    return { problem: 'full' }
  }

  #count(service: KubeObject, step: 1 | -1): void {
    const spec = (service['spec'] ?? {}) as ServiceSpec
    for (const address of addressesOf(spec)) count(this.#addresses, address, step)
    for (const port of portsOf(spec)) count(this.#ports, port, step)
  }
}

const addressesOf = (spec: ServiceSpec): Set<string> =>
  new Set([spec.clusterIP ?? '', ...(spec.clusterIPs ?? [])].filter((text) => text !== '' && text !== 'None'))

// A Service may use one node port for TCP and UDP.
const portsOf = (spec: ServiceSpec): Set<number> =>
  new Set(
    [spec.healthCheckNodePort, ...(spec.ports ?? []).map(({ nodePort }) => nodePort)].filter(
      (port): port is number => port !== undefined && port !== 0,
    ),
  )

function count<Key>(counts: Map<Key, number>, key: Key, step: 1 | -1): void {
  const next = (counts.get(key) ?? 0) + step
  if (next > 0) counts.set(key, next)
  else counts.delete(key)
}

const addressNumber = (text: string): number => text.split('.').reduce((sum, part) => sum * 256 + Number(part), 0)

const addressText = (value: number): string =>
  [value >>> 24, (value >>> 16) & 255, (value >>> 8) & 255, value & 255].join('.')
