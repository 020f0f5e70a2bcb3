import type { JsonObject, KubeObject, ObjectKey } from '#libs/kube-model'
import type { Vault } from '#libs/vault'

const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration'
const DIGEST_DIGITS = 12

/**
 * Opens what is sealed, and shows of it no more than lengths and fingerprints: what people read never holds a value.
 * Fingerprints are keyed, so that a short value cannot be guessed from its own.
 * @param vault absent where the reader has no key ring: then the length of what is sealed is all that is shown
 */
export function hideValues<T extends KubeObject | JsonObject>(key: ObjectKey, object: T, vault?: Vault): T {
  const fields = object as Record<string, unknown>
  if (key.resource !== 'secrets' && typeof fields['sealed'] !== 'string') return object
  const { sealed, data, stringData, ...rest } = { ...fields, ...opened(key, fields, vault) } as Record<string, unknown>
  return {
    ...rest,
    ...(data === undefined ? {} : { data: hidden(data, 'base64', vault) }),
    ...(stringData === undefined ? {} : { stringData: hidden(stringData, 'utf8', vault) }),
    ...(typeof sealed === 'string' ? { data: `<sealed, ${sealed.length} characters>` } : {}),
    ...withoutCopy(rest['metadata']),
  } as T
}

function opened(key: ObjectKey, fields: Record<string, unknown>, vault: Vault | undefined): Record<string, unknown> {
  if (typeof fields['sealed'] !== 'string' || vault === undefined) return fields
  try {
    return { ...vault.unsealFields(key, fields as JsonObject), sealed: undefined }
  } catch {
    // Sealed under a key that is not in this ring.
    return fields
  }
}

function hidden(values: unknown, encoding: 'base64' | 'utf8', vault: Vault | undefined): unknown {
  if (typeof values !== 'object' || values === null) return null
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, shown(value, encoding, vault)]))
}

function shown(value: unknown, encoding: 'base64' | 'utf8', vault: Vault | undefined): string | null {
  // In a patch, what is to go.
  if (typeof value !== 'string') return null
  const bytes = Buffer.from(value, encoding)
  const digest = vault === undefined ? '' : `, ${vault.fingerprint(bytes.toString('base64')).slice(0, DIGEST_DIGITS)}`
  return `<${bytes.length} bytes${digest}>`
}

/** kubectl keeps the whole object, values and all, in an annotation. */
function withoutCopy(metadata: unknown): { metadata?: unknown } {
  const { annotations, ...rest } = (metadata ?? {}) as { annotations?: Record<string, string> }
  if (annotations?.[LAST_APPLIED] === undefined) return {}
  return { metadata: { ...rest, annotations: { ...annotations, [LAST_APPLIED]: '<not shown>' } } }
}
