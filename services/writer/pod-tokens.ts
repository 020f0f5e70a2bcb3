import type { PodTokens } from '#libs/events'
import { type KubeApiError, isAlreadyExists } from '#libs/kube'
import { type JsonObject, type KubeObject, type ObjectRef, RESOURCES, resourcePath } from '#libs/kube-model'
import { ANNOTATIONS, LABELS } from '#libs/translation'
import { withPreconditions } from './patch-precondition.ts'
import type { WriterClient } from './ports.ts'

/** What a token Secret says of itself: enough to renew it. The tokens are in its data and nowhere else. */
export type TokenSecret = {
  tenant: string
  tokens: PodTokens
  /** The tenant's pod. */
  pod: { namespace: string; name: string }
  /** Its copy on the host. */
  copy: { namespace: string; name: string }
}

type CallOptions = { signal: AbortSignal; timeoutMs: number }

/** Fresh tokens, as a Secret's data, and when they are to be renewed, ms since the epoch. */
export type IssuedTokens = { data: Record<string, string>; renewAt: number }

/** A token is renewed after this part of its life. */
const RENEW_AFTER = 0.8

/**
 * Asks the tenant's API for the tokens of a pod, bound to the pod: they end with it.
 * @throws what the client throws
 */
export async function requestTokens(
  client: WriterClient,
  { tokens, pod }: Pick<TokenSecret, 'tokens' | 'pod'>,
  options: CallOptions,
): Promise<IssuedTokens> {
  const path = resourcePath(RESOURCES.serviceaccounts, {
    namespace: pod.namespace,
    name: tokens.serviceAccount,
    subresource: 'token',
  })
  const issued: IssuedTokens = { data: {}, renewAt: Infinity }
  for (const { key, audience, expirationSeconds } of tokens.items) {
    const body = {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      spec: {
        audiences: audience === undefined ? [] : [audience],
        ...(expirationSeconds === undefined ? {} : { expirationSeconds }),
        boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: pod.name, uid: tokens.podUid },
      },
    }
    const answer = (await client.request({ ...options, method: 'POST', path, body })) as {
      spec?: { expirationSeconds?: number }
      status?: { token?: string; expirationTimestamp?: string }
    }
    const { token, expirationTimestamp = '' } = answer.status ?? {}
    const expiry = Date.parse(expirationTimestamp)
    if (token === undefined || Number.isNaN(expiry)) throw new TypeError('the answer to a TokenRequest holds no token')
    const lifeMs = 1_000 * (answer.spec?.expirationSeconds ?? expirationSeconds ?? 3_600)
    issued.data[key] = Buffer.from(token).toString('base64')
    issued.renewAt = Math.min(issued.renewAt, expiry - lifeMs * (1 - RENEW_AFTER))
  }
  return issued
}

/**
 * Puts tokens into their Secret on the host, which is made if it is not there. It carries no label by which the watcher
 * would follow it, so that it never gets into the log.
 * @returns false when the name is taken by something else
 * @throws what the client throws
 */
export async function storeTokens(
  host: WriterClient,
  of: TokenSecret,
  issued: IssuedTokens,
  options: CallOptions,
): Promise<boolean> {
  const target = { namespace: of.copy.namespace, name: of.tokens.secret }
  try {
    await host.create(RESOURCES.secrets, target, secretOf(of, issued), options)
    return true
  } catch (error) {
    if (!isAlreadyExists(error)) throw error
  }
  const live = await host.get(RESOURCES.secrets, target, options)
  if (tokenSecretIn(live)?.tenant !== of.tenant) return false
  await host.patch(RESOURCES.secrets, target, renewal(live, issued), { ...options, type: 'merge' })
  return true
}

/** The patch that puts fresh tokens in. */
export function renewal(live: KubeObject, issued: IssuedTokens): JsonObject {
  const annotations = { [ANNOTATIONS.renewAt]: timeOf(issued) }
  return withPreconditions(
    { metadata: { annotations }, data: issued.data },
    { uid: live.metadata.uid ?? '' },
  ) as JsonObject
}

/** The patch that lets the Secret go with the pod that mounts it. */
export function ownedBy(copy: { name: string; uid: string }): JsonObject {
  return { metadata: { ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', ...copy }] } }
}

function secretOf({ tenant, tokens, pod, copy }: TokenSecret, issued: IssuedTokens): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      name: tokens.secret,
      namespace: copy.namespace,
      labels: { [LABELS.tokenOf]: tenant },
      annotations: {
        [ANNOTATIONS.name]: pod.name,
        [ANNOTATIONS.namespace]: pod.namespace,
        [ANNOTATIONS.uid]: tokens.podUid,
        [ANNOTATIONS.hostName]: `${copy.namespace}/${copy.name}`,
        [ANNOTATIONS.tokens]: JSON.stringify({ serviceAccount: tokens.serviceAccount, items: tokens.items }),
        [ANNOTATIONS.renewAt]: timeOf(issued),
      },
    },
    data: issued.data,
  }
}

/** What a Secret on the host says of its tokens; `undefined` when it is no token Secret. */
export function tokenSecretIn(secret: KubeObject): TokenSecret | undefined {
  const { labels, annotations = {}, name = '', namespace = '' } = secret.metadata
  const tenant = labels?.[LABELS.tokenOf]
  const pod: Pick<ObjectRef, 'namespace' | 'name'> = {
    namespace: annotations[ANNOTATIONS.namespace] ?? '',
    name: annotations[ANNOTATIONS.name] ?? '',
  }
  const [, copyName = ''] = (annotations[ANNOTATIONS.hostName] ?? '').split('/')
  const podUid = annotations[ANNOTATIONS.uid] ?? ''
  const wish = parsed(annotations[ANNOTATIONS.tokens])
  if (tenant === undefined || wish === undefined || podUid === '' || copyName === '') return undefined
  return { tenant, pod, copy: { namespace, name: copyName }, tokens: { ...wish, secret: name, podUid } }
}

/** When a token Secret is to be renewed; at once when it does not say. */
export function renewAtOf(secret: KubeObject): number {
  const time = Date.parse(secret.metadata.annotations?.[ANNOTATIONS.renewAt] ?? '')
  return Number.isNaN(time) ? 0 : time
}

/** Whether an error says that the tenant's API gives this pod no token: no such account, no such pod, not that one. */
export function isTokenRefusal(error: unknown): error is KubeApiError {
  const code = (error as Partial<KubeApiError>).statusCode
  return code === 400 || code === 404 || code === 409 || code === 422
}

function parsed(text: string | undefined): Pick<PodTokens, 'serviceAccount' | 'items'> | undefined {
  try {
    const value = JSON.parse(text ?? '') as Partial<PodTokens> | null
    return typeof value?.serviceAccount === 'string' && Array.isArray(value.items)
      ? { serviceAccount: value.serviceAccount, items: value.items }
      : undefined
  } catch {
    return undefined
  }
}

function timeOf({ renewAt }: IssuedTokens): string {
  return new Date(renewAt).toISOString()
}
