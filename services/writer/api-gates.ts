import type { Clock } from '#libs/kernel'
import { ApiGate } from './api-gate.ts'

export type ApiGatesOptions = {
  clock: Clock
  /** Ends waiting. */
  signal: AbortSignal
  /** Share of the host's API that a tenant has relative to others. @default 1 */
  weight?: (tenant: string) => number
}

/** The gates of a process: one for the host's API, which all tenants share, and one for each tenant's that is in use. */
export class ApiGates {
  readonly host: ApiGate
  readonly #tenants = new Map<string, ApiGate>()
  readonly #options: ApiGatesOptions

  constructor(options: ApiGatesOptions) {
    this.#options = options
    this.host = new ApiGate({ ...options, shared: true })
  }

  tenant(name: string): ApiGate {
    const existing = this.#tenants.get(name)
    if (existing !== undefined) return existing
    const gate: ApiGate = new ApiGate({
      ...this.#options,
      shared: false,
      onIdle: () => {
        // A tenant at rest costs nothing; what is known of a healthy server is learned again quickly.
        if (gate.isForgettable) this.#tenants.delete(name)
      },
    })
    this.#tenants.set(name, gate)
    return gate
  }

  tenants(): Iterable<ApiGate> {
    return this.#tenants.values()
  }
}
