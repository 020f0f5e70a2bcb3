import type { PodTokens } from '#libs/events'
import { sha256Hex } from '#libs/kernel'
import type { JsonObject, KubeObject } from '#libs/kube-model'
import { asName, asObject, objectsIn } from '../../json.ts'
import type { TranslateInput } from '../../kind.ts'
import { TOKEN_SECRET_PREFIX } from '../../stamps.ts'
import { specOf } from './fields.ts'

/**
 * Mounts tokens of the tenant's API where the pod asks for ones of its cluster's. They come from a Secret that the writer
 * makes, keeps current, and that goes with the copy. Changes `spec`, which is the copy's.
 * @returns what the writer is to put there; nothing where the pod mounts none
 */
export function mountTokens(spec: JsonObject, { virtual, tenant }: TranslateInput): PodTokens | undefined {
  const secret = tokenSecretName(virtual, tenant.name)
  const items = new Map<string, PodTokens['items'][number]>()
  for (const volume of objectsIn(spec.volumes)) {
    const projected = asObject(volume.projected)
    if (!Array.isArray(projected?.sources)) continue
    projected.sources = objectsIn(projected.sources).map((source) => {
      const wanted = asObject(source.serviceAccountToken)
      if (wanted === undefined) return source
      const item = itemFor(wanted, items)
      return { secret: { name: secret, items: [{ key: item.key, path: wanted.path ?? '' }] } }
    })
  }
  if (items.size === 0) return undefined
  const own = specOf(virtual)
  return {
    secret,
    serviceAccount: asName(own.serviceAccountName) ?? asName(own.serviceAccount) ?? 'default',
    podUid: virtual.metadata.uid ?? '',
    items: [...items.values()],
  }
}

/** Tokens that are alike in audience and life are one. */
function itemFor(wanted: JsonObject, items: Map<string, PodTokens['items'][number]>): PodTokens['items'][number] {
  const audience = asName(wanted.audience)
  const seconds = typeof wanted.expirationSeconds === 'number' ? wanted.expirationSeconds : undefined
  const kind = JSON.stringify([audience, seconds])
  const item = items.get(kind) ?? {
    key: `token-${String(items.size)}`,
    ...(audience === undefined ? {} : { audience }),
    ...(seconds === undefined ? {} : { expirationSeconds: seconds }),
  }
  items.set(kind, item)
  return item
}

/**
 * No copy of a tenant's Secret can have this name: those hold `-x-`, or end in a dash and ten digits. A pod that is made
 * anew under its name gets another.
 */
function tokenSecretName({ metadata }: KubeObject, tenant: string): string {
  const { uid = '', namespace = '', name = '' } = metadata
  return TOKEN_SECRET_PREFIX + sha256Hex([tenant, namespace, name, uid].join('\0')).slice(0, 26)
}
