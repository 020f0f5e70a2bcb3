import type { Clock } from '#libs/kernel'
import type { ClusterStore } from '../storage/store.ts'
import type { Identity } from './identity.ts'
import { JwtSigner, newSigningKey } from './jwt.ts'

/** Issuer of tokens, and the audience of those that name none. */
export const ISSUER = 'https://kubernetes.default.svc'

const SETTING = 'service-account-key'

type Named = { name: string; uid: string }

export type TokenSubject = {
  namespace: string
  account: Named
  /** The token dies with this object. */
  bound?: Named & { kind: 'Pod' | 'Secret' | 'Node' }
}

type PrivateClaims = {
  namespace?: string
  serviceaccount?: Named
  pod?: Named
  secret?: Named
  node?: Named
}

type TokenClaims = {
  aud?: string[]
  exp?: number
  iss?: string
  jti?: string
  nbf?: number
  sub?: string
  'kubernetes.io'?: PrivateClaims
}

export type TokenCheck = { identity: Identity; audiences: string[] } | { problem: string }

const INVALID = 'invalid bearer token'

/** Makes and checks the tokens of a cluster's service accounts. The key is the cluster's and stays with its file. */
export class ServiceAccountTokens {
  readonly #store: ClusterStore
  readonly #clock: Clock
  readonly #newId: () => string
  #signer: JwtSigner | undefined

  constructor(parts: { store: ClusterStore; clock: Clock; newUid: () => string }) {
    this.#store = parts.store
    this.#clock = parts.clock
    this.#newId = parts.newUid
  }

  /** @returns the token and the time at which it ends, in milliseconds */
  issue(
    subject: TokenSubject,
    options: { audiences: readonly string[]; seconds: number },
  ): { token: string; expiresAt: number } {
    const { namespace, account, bound } = subject
    const now = Math.floor(this.#clock.now() / 1000)
    const exp = now + options.seconds
    const token = this.#signing().sign({
      aud: options.audiences,
      exp,
      iat: now,
      iss: ISSUER,
      jti: this.#newId(),
      'kubernetes.io': {
        namespace,
        ...(bound === undefined ? {} : { [bound.kind.toLowerCase()]: { name: bound.name, uid: bound.uid } }),
        serviceaccount: account,
      },
      nbf: now,
      sub: `system:serviceaccount:${namespace}:${account.name}`,
    })
    return { token, expiresAt: exp * 1000 }
  }

  /** Who a token stands for, if it is valid for one of the audiences, its account and bound object being there. */
  check(token: string, audiences: readonly string[] = [ISSUER]): TokenCheck {
    const claims = this.#signing().verify(token) as TokenClaims | undefined
    if (claims === undefined || claims.iss !== ISSUER) return { problem: INVALID }
    const seconds = this.#clock.now() / 1000
    if ((claims.exp ?? 0) <= seconds) return { problem: `[${INVALID}, service account token has expired]` }
    if ((claims.nbf ?? 0) > seconds) return { problem: `[${INVALID}, service account token is not valid yet]` }
    const own = claims.aud ?? []
    const shared = own.filter((audience) => audiences.includes(audience))
    if (shared.length === 0) {
      const [given, wanted] = [own, audiences].map((list) => `[${list.map((text) => JSON.stringify(text)).join(' ')}]`)
      return {
        problem: `[${INVALID}, token audiences ${given ?? ''} is invalid for the target audiences ${wanted ?? ''}]`,
      }
    }
    const problem = this.#subjectProblem(claims['kubernetes.io'] ?? {})
    return problem === undefined
      ? { identity: identityOf(claims), audiences: shared }
      : { problem: `[${INVALID}, ${problem}]` }
  }

  #subjectProblem(claims: PrivateClaims): string | undefined {
    const { namespace = '', serviceaccount, pod, secret, node } = claims
    const isThere = (resource: string, place: string, named: Named | undefined): boolean =>
      named === undefined || this.#store.get(resource, place, named.name)?.object.metadata.uid === named.uid
    if (serviceaccount === undefined || !isThere('serviceaccounts', namespace, serviceaccount)) {
      return `service account ${namespace}/${serviceaccount?.name ?? ''} has been deleted`
    }
    const isBound =
      isThere('pods', namespace, pod) && isThere('secrets', namespace, secret) && isThere('nodes', '', node)
    return isBound ? undefined : 'service account token has been invalidated'
  }

  /** Made when first needed: most clusters never are asked for a token. */
  #signing(): JwtSigner {
    if (this.#signer === undefined) {
      let pem = this.#store.setting(SETTING)
      if (pem === undefined) {
        pem = newSigningKey()
        this.#store.setSetting(SETTING, pem)
      }
      this.#signer = new JwtSigner(pem)
    }
    return this.#signer
  }
}

function identityOf(claims: TokenClaims): Identity {
  const { namespace = '', serviceaccount, pod } = claims['kubernetes.io'] ?? {}
  return {
    username: claims.sub ?? '',
    ...(serviceaccount === undefined ? {} : { uid: serviceaccount.uid }),
    groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'],
    extra: {
      'authentication.kubernetes.io/credential-id': [`JTI=${claims.jti ?? ''}`],
      ...(pod === undefined
        ? {}
        : {
            'authentication.kubernetes.io/pod-name': [pod.name],
            'authentication.kubernetes.io/pod-uid': [pod.uid],
          }),
    },
  }
}
