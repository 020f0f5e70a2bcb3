/**
 * Waits for a promise, unless the signal aborts first.
 * @throws the signal's reason, or what the promise rejects with
 */
export async function unlessAborted<T>(waiting: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted()
  const { promise, reject } = Promise.withResolvers<never>()
  const onAbort = (): void => reject(signal.reason as Error)
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    return await Promise.race([waiting, promise])
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}
