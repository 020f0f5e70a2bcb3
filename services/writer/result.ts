import type { OutcomeResult, Reason } from '#libs/events'

/** What an attempt to carry out an intent came to. */
export type Settled = {
  result: OutcomeResult
  reason?: Reason
  /** The API's answer, or what stands against the write. */
  message?: string
  /** The object after the write. */
  uid?: string
  resourceVersion?: string
}

/** Trying the same write again may well succeed. */
export type TryAgain = {
  result: 'retry'
  message: string
  /** `overloaded`: the server asked for less. `failed`: it gave no answer, or could not serve this one. */
  cause: 'overloaded' | 'failed'
  /** Whether the server answered for itself: then only this request failed, and others need not. */
  isUp: boolean
  retryAfterMs?: number
}

export type Attempt = Settled | TryAgain

export const done = (object?: { uid?: string | undefined; resourceVersion?: string | undefined }): Settled => ({
  result: 'done',
  ...(object?.uid === undefined ? {} : { uid: object.uid }),
  ...(object?.resourceVersion === undefined ? {} : { resourceVersion: object.resourceVersion }),
})

export const conflict = (message: string): Settled => ({ result: 'conflict', message })

export const parked = (reason: Reason, message: string): Settled => ({ result: 'parked', reason, message })

export const refused = (reason: Reason, message: string): Settled => ({ result: 'refused', reason, message })
