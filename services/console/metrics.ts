import type { Registry } from 'prom-client'
import { METRICS, gauge, histogram } from '#libs/telemetry'

/** What the console counts. */
export type ConsoleMetrics = {
  /** An operation of the API was answered, or refused, with this status. */
  answered(op: string, status: number, seconds: number): void
  listening(pages: number): void
}

/** The console's metrics in a registry. */
export function createConsoleMetrics(registry: Registry): ConsoleMetrics {
  const requests = histogram(registry, METRICS.consoleRequests)
  const listeners = gauge(registry, METRICS.consoleListeners)
  listeners.set(0)
  return {
    answered: (op, status, seconds) => requests.observe({ op, result: `${Math.floor(status / 100)}xx` }, seconds),
    listening: (pages) => listeners.set(pages),
  }
}
