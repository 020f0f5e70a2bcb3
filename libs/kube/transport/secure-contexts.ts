import { createHash } from 'node:crypto'
import { type SecureContext, createSecureContext } from 'node:tls'
import type { TlsMaterial } from '../auth/cluster-config.ts'

const contexts = new Map<string, WeakRef<SecureContext>>()
const forgotten = new FinalizationRegistry((key: string) => {
  if (contexts.get(key)?.deref() === undefined) contexts.delete(key)
})

/**
 * What TLS needs of this material: one for all connections that have the same, as each takes 44 KB and a fleet's tenants
 * mostly have one authority. Kept as long as somebody uses it. Undefined where the material cannot be used: connecting
 * says why.
 */
export function secureContextOf({ ca, cert, key }: TlsMaterial): SecureContext | undefined {
  const hash = createHash('sha256')
  for (const part of [ca, cert, key]) hash.update(part === undefined ? '-' : `${part.length}:`).update(part ?? '')
  const name = hash.digest('base64')
  const existing = contexts.get(name)?.deref()
  if (existing !== undefined) return existing
  try {
    const made = createSecureContext({ ca, cert, key })
    contexts.set(name, new WeakRef(made))
    forgotten.register(made, name)
    return made
  } catch {
    return undefined
  }
}
