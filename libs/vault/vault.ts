import { createCipheriv, createDecipheriv, createHmac, createSecretKey, randomBytes } from 'node:crypto'
import { CausewayError } from '#libs/kernel'
import { type JsonObject, type KubeObject, type ObjectKey, keyString } from '#libs/kube-model'
import type { KeyRing } from './key-ring.ts'

/** Seals what must not be read in the log: the data of Secrets. */
export type Vault = {
  /** Whether objects of this resource are sealed. */
  covers(resource: string): boolean
  /**
   * A copy whose `data` and `stringData` are encrypted, bound to the object's key so that they cannot be moved to
   * another object. Objects of resources that are not covered come back as they are.
   */
  seal(key: ObjectKey, object: KubeObject): KubeObject
  /**
   * The inverse of `seal`. An object that is not sealed comes back as it is.
   * @throws CausewayError `SealBroken` when the key is unknown or the text was tampered with or moved
   */
  unseal(key: ObjectKey, object: KubeObject): KubeObject
  /** The same as `seal` for a patch body, whether or not it has metadata. */
  sealFields(key: ObjectKey, body: JsonObject): JsonObject
  /** The inverse of `sealFields`. */
  unsealFields(key: ObjectKey, body: JsonObject): JsonObject
  /** Tells equal texts from different ones, and nothing else: an HMAC under the active key, in hex. */
  fingerprint(text: string): string
}

/** Holds the sealed fields of an object. */
const SEALED = 'sealed'
const HIDDEN_FIELDS = ['data', 'stringData'] as const
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration'
const IV_BYTES = 12
const TAG_BYTES = 16

/**
 * A vault over a key ring: AES-256-GCM with a random nonce per object.
 * @param resources resource tokens whose objects are sealed
 */
export function createVault(ring: KeyRing, resources: Iterable<string> = ['secrets']): Vault {
  const covered = new Set(resources)
  // Made once: a key made of bytes for each fingerprint costs several times the fingerprint.
  const fingerprintKey = createSecretKey(keyOf(ring, ring.active))
  return {
    covers: (resource) => covered.has(resource),
    seal: (key, object) => (covered.has(key.resource) ? seal(ring, key, object) : object),
    unseal: (key, object) => unseal(ring, key, object),
    sealFields: (key, body) => (covered.has(key.resource) ? seal(ring, key, body) : body),
    unsealFields: (key, body) => unseal(ring, key, body),
    fingerprint: (text) => createHmac('sha256', fingerprintKey).update(text).digest('hex'),
  }
}

function seal<T extends Fields>(ring: KeyRing, key: ObjectKey, object: T): T {
  const copy: Fields = withoutLastApplied(object)
  const hidden: Record<string, unknown> = {}
  for (const field of HIDDEN_FIELDS) {
    if (copy[field] !== undefined) hidden[field] = copy[field]
    delete copy[field]
  }
  if (Object.keys(hidden).length === 0) return copy as T
  const iv = randomBytes(IV_BYTES)
  const cipher = createCipheriv('aes-256-gcm', keyOf(ring, ring.active), iv)
  cipher.setAAD(Buffer.from(keyString(key)))
  const text = Buffer.concat([cipher.update(JSON.stringify(hidden), 'utf8'), cipher.final(), cipher.getAuthTag()])
  copy[SEALED] = `v1.${ring.active}.${iv.toString('base64')}.${text.toString('base64')}`
  return copy as T
}

function unseal<T extends Fields>(ring: KeyRing, key: ObjectKey, object: T): T {
  const { [SEALED]: sealed, ...rest } = object
  if (typeof sealed !== 'string') return object
  const [version, keyId, iv, text] = sealed.split('.')
  if (version !== 'v1' || keyId === undefined || iv === undefined || text === undefined) {
    throw broken(key, `its form "${String(version)}" is unknown to this build`)
  }
  const bytes = Buffer.from(text, 'base64')
  try {
    const decipher = createDecipheriv('aes-256-gcm', keyOf(ring, keyId), Buffer.from(iv, 'base64'))
    decipher.setAAD(Buffer.from(keyString(key)))
    decipher.setAuthTag(bytes.subarray(bytes.length - TAG_BYTES))
    const plain = Buffer.concat([decipher.update(bytes.subarray(0, bytes.length - TAG_BYTES)), decipher.final()])
    return { ...rest, ...(JSON.parse(plain.toString('utf8')) as object) } as unknown as T
  } catch (error) {
    if (error instanceof CausewayError) throw error
    throw broken(key, 'it was changed, or moved here from another object', error)
  }
}

function keyOf(ring: KeyRing, id: string): Buffer {
  const key = ring.keys.get(id)
  if (key !== undefined) return key
  throw new CausewayError(`key "${id}" is not in the key ring: keep old keys in it until the log has forgotten them`, {
    code: 'SealBroken',
  })
}

function broken(key: ObjectKey, why: string, cause?: unknown): CausewayError {
  return new CausewayError(`the sealed data of ${keyString(key)} cannot be opened: ${why}`, {
    code: 'SealBroken',
    cause,
  })
}

/** kubectl keeps the whole object, values and all, in an annotation. It never crosses, so it need not be logged. */
function withoutLastApplied(object: Fields): Fields {
  const metadata = object['metadata'] as KubeObject['metadata'] | undefined
  if (metadata?.annotations?.[LAST_APPLIED] === undefined) return { ...object }
  const { [LAST_APPLIED]: _dropped, ...annotations } = metadata.annotations
  return { ...object, metadata: { ...metadata, annotations } }
}

/** An object or a patch body. */
type Fields = Record<string, unknown>
