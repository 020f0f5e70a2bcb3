import { createPrivateKey, createPublicKey, generateKeyPairSync, sign, verify } from 'node:crypto'
import type { KeyObject } from 'node:crypto'

export type Claims = Readonly<Record<string, unknown>>

const HEADER = encode({ alg: 'ES256', typ: 'JWT' })
const ENCODING = 'ieee-p1363'

/** A new key in PEM. */
export function newSigningKey(): string {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  return privateKey.export({ type: 'pkcs8', format: 'pem' }) as string
}

/** Signs and checks JSON web tokens with one key (ES256). */
export class JwtSigner {
  readonly #private: KeyObject
  readonly #public: KeyObject

  /** @param pem from {@link newSigningKey} */
  constructor(pem: string) {
    this.#private = createPrivateKey(pem)
    this.#public = createPublicKey(this.#private)
  }

  sign(claims: Claims): string {
    const content = `${HEADER}.${encode(claims)}`
    const signature = sign('sha256', Buffer.from(content), { key: this.#private, dsaEncoding: ENCODING })
    return `${content}.${signature.toString('base64url')}`
  }

  /** The claims of a token that this key has signed; `undefined` for all others. */
  verify(token: string): Claims | undefined {
    const [header, claims, signature, ...rest] = token.split('.')
    if (header !== HEADER || claims === undefined || signature === undefined || rest.length > 0) return undefined
    const key = { key: this.#public, dsaEncoding: ENCODING } as const
    const isOurs = verify('sha256', Buffer.from(`${header}.${claims}`), key, Buffer.from(signature, 'base64url'))
    return isOurs ? (JSON.parse(Buffer.from(claims, 'base64url').toString()) as Claims) : undefined
  }
}

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}
