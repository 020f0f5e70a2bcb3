import type { Bus } from './connection.ts'
import { BusError } from './errors.ts'

/** Resolves when the connection is up; also when the signal aborts. */
export async function untilConnected(bus: Bus, signal?: AbortSignal): Promise<void> {
  if (bus.isConnected() || signal?.aborted === true) return
  const { promise, resolve } = Promise.withResolvers<void>()
  const off = bus.onConnection((connected) => {
    if (connected) resolve()
  })
  signal?.addEventListener('abort', () => resolve(), { once: true })
  try {
    await Promise.race([promise, bus.closed])
  } finally {
    off()
  }
}

/**
 * Makes a request, and gives up on its answer when the connection breaks: the client itself would wait for the whole
 * timeout of a request that went down with the connection.
 * @throws BusError `NatsUnreachable` when the connection breaks or is not there, or what the request throws
 */
export async function whileConnected<T>(bus: Bus, request: () => Promise<T>): Promise<T> {
  if (!bus.isConnected()) throw interrupted()
  const broken = Promise.withResolvers<never>()
  const off = bus.onConnection(() => broken.reject(interrupted()))
  try {
    const answer = request()
    // If the connection breaks first, nobody is left to hear of its failure.
    answer.catch(() => undefined)
    return await Promise.race([answer, broken.promise])
  } finally {
    off()
  }
}

function interrupted(): BusError {
  return new BusError('the connection to NATS is interrupted', { code: 'NatsUnreachable', retry: 'backoff' })
}
