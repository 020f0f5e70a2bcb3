/** One abort signal out of a caller's signal and a time limit. */
export type Deadline = {
  signal: AbortSignal
  /** Whether the time limit was what aborted. */
  expired(): boolean
  /** Ends the time limit; the caller's signal stays attached. */
  stopTimer(): void
  /** Ends both; to be called when the request is over. */
  close(): void
}

/** Opens a deadline. Cheaper than `AbortSignal.any` with `AbortSignal.timeout`, and nothing stays on a long-lived signal. */
export function openDeadline(signal: AbortSignal | undefined, timeoutMs: number): Deadline {
  const controller = new AbortController()
  let expired = false
  const timer = setTimeout(() => {
    expired = true
    controller.abort(new Error(`no answer within ${timeoutMs} ms`))
  }, timeoutMs)
  const onAbort = (): void => controller.abort(signal?.reason)
  if (signal?.aborted) onAbort()
  else signal?.addEventListener('abort', onAbort, { once: true })
  const stopTimer = (): void => clearTimeout(timer)
  return {
    signal: controller.signal,
    expired: () => expired,
    stopTimer,
    close: () => {
      stopTimer()
      signal?.removeEventListener('abort', onAbort)
    },
  }
}
