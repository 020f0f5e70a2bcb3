import { type LoggedIntent, type Write, writeName } from '#libs/events'
import type { JsonObject, ObjectKey } from '#libs/kube-model'
import {
  DEFINITIONS,
  LABELS,
  TOKEN_SECRET_PREFIX,
  type TenantPlace,
  hasOwnNamespaces,
  hostNamespaceFor,
  hostRefOf,
  isCustomResource,
  mirrorFor,
} from '#libs/translation'
import { isAllowed } from './allowed-writes.ts'
import { isConfigured, isCopyClusterScoped, isNamed } from './configured-writes.ts'
import { type Settled, refused } from './result.ts'

/**
 * The blast wall: whatever decided on a write, this stands between it and the APIs. It looks at the intent and the
 * tenant's host namespace only, never at what the intent says about itself.
 * @returns the refusal, or undefined when the write may be made
 */
export function refusal(
  intent: Pick<LoggedIntent, 'target' | 'write' | 'source'>,
  tenant: TenantPlace,
): Settled | undefined {
  const { target, write, source } = intent
  const isCustom = isCustomResource(target.resource)
  if (!(isCustom ? isConfigured(target, write, tenant.config) : isAllowed(target.side, target.resource, write))) {
    return outside(`a ${writeName(write)} of ${target.resource} is never made on the ${target.side} side`)
  }
  if (target.resource === DEFINITIONS && !isNamed(target.name, tenant.config)) {
    return outside(`"${target.name}" is none of the custom resources that the configuration names`)
  }
  const expected = isCopyClusterScoped(intent, tenant.config) ? '' : hostNamespaceFor(source.namespace, tenant)
  if (target.side === 'host' && (target.namespace !== expected || tenant.hostNamespace === '')) {
    return outside(`namespace "${target.namespace}" is not the host namespace of tenant ${target.tenant}`)
  }
  const isNamespace = target.side === 'host' && target.resource === 'namespaces'
  if (isNamespace && (!hasOwnNamespaces(tenant) || target.name !== hostRefOf(source, tenant).name)) {
    return outside(`namespace "${target.name}" does not stand for namespace "${source.name}" of ${target.tenant}`)
  }
  switch (write.op) {
    case 'create':
      return refuseTokens(target, write) ?? refuseBody(target, write)
    case 'announce':
      return refuseBody(target, write)
    case 'patch':
      return write.uid === '' ? unguarded('patch') : refusePatch(target, write.body)
    case 'bind':
      return write.uid === '' ? unguarded('bind') : undefined
    case 'replace':
      return write.uid === '' || write.copy.uid === '' ? unguarded('replace') : refuseBody(target, write)
    case 'delete':
      return write.uid === '' ? unguarded('delete') : refuseProof({ target, write, source }, tenant)
  }
}

/** Tokens are for pods on the host alone, and in Secrets that are nothing else. */
function refuseTokens(target: ObjectKey, { tokens }: Extract<Write, { op: 'create' }>): Settled | undefined {
  if (tokens === undefined) return undefined
  if (target.side !== 'host' || target.resource !== 'pods') return outside('tokens are for pods on the host only')
  if (!tokens.secret.startsWith(TOKEN_SECRET_PREFIX)) return outside(`"${tokens.secret}" is no name for tokens`)
  return tokens.podUid === '' ? unguarded('token request') : undefined
}

function refuseBody(
  target: ObjectKey,
  write: Extract<Write, { op: 'create' | 'replace' | 'announce' }>,
): Settled | undefined {
  const { metadata } = write.body
  if (typeof metadata !== 'object' || metadata === null || metadata.name !== target.name) {
    return outside(`the body is of another name than its target "${target.name}"`)
  }
  if ((metadata.namespace ?? '') !== target.namespace) {
    return outside(`the body is of namespace "${metadata.namespace ?? ''}", its target of "${target.namespace}"`)
  }
  if (target.side === 'host' && metadata.labels?.[LABELS.tenant] !== target.tenant) {
    return outside(`the body does not carry the stamp of tenant ${target.tenant}`)
  }
  return undefined
}

/** A patch must not rename, move or take the stamp off. */
function refusePatch(target: ObjectKey, body: JsonObject | JsonObject[]): Settled | undefined {
  if (Array.isArray(body)) {
    const touched = body.flatMap((step) => [step['path'], step['from']]).find((path) => isIdentityPath(target, path))
    return touched === undefined ? undefined : outside(`the patch changes ${JSON.stringify(touched)}`)
  }
  const metadata = body['metadata'] as JsonObject | null | undefined
  if (metadata === undefined) return undefined
  if (metadata === null || typeof metadata !== 'object') return outside('the patch removes the metadata')
  for (const [field, own] of [
    ['name', target.name],
    ['namespace', target.namespace],
  ] as const) {
    if (field in metadata && metadata[field] !== own) return outside(`the patch changes metadata.${field}`)
  }
  if (target.side === 'virtual' || !('labels' in metadata)) return undefined
  const labels = metadata['labels'] as JsonObject | null
  if (labels === null || typeof labels !== 'object' || '$patch' in labels || '$patch' in metadata) {
    return outside('the patch removes the stamps')
  }
  if (LABELS.tenant in labels && labels[LABELS.tenant] !== target.tenant) return outside('the patch changes the stamp')
  return undefined
}

function isIdentityPath(target: ObjectKey, path: unknown): boolean {
  if (typeof path !== 'string') return false
  const always = ['', '/metadata', '/metadata/name', '/metadata/namespace']
  const stamps = ['/metadata/labels', `/metadata/labels/${LABELS.tenant.replaceAll('/', '~1')}`]
  return always.includes(path) || (target.side === 'host' && stamps.includes(path))
}

function refuseProof(
  deletion: Pick<LoggedIntent, 'target' | 'source'> & { write: Extract<Write, { op: 'delete' }> },
  tenant: TenantPlace,
): Settled | undefined {
  const { target, write } = deletion
  const { proof } = write
  switch (proof?.kind) {
    case 'tombstone':
    case 'state':
      return proof.seq > 0 ? undefined : refused('PoisonMessage', 'a delete whose proof has no place in the log')
    case 'confirm-absent': {
      const { counterpart } = proof
      const isOther = counterpart.tenant === target.tenant && counterpart.side !== target.side
      const isInside =
        counterpart.side === 'virtual' ||
        counterpart.namespace ===
          (isCopyClusterScoped(deletion, tenant.config) ? '' : hostNamespaceFor(target.namespace, tenant)) ||
        isMappedOriginal(counterpart, target, tenant)
      return isOther && isInside ? undefined : outside('the proof names an object that is not the counterpart')
    }
    default:
      return refused('PoisonMessage', 'a delete without a proof that this build knows')
  }
}

/** Whether the configuration says that the tenant's object shows this one of the host. */
function isMappedOriginal(original: ObjectKey, copy: ObjectKey, { config, ...place }: TenantPlace): boolean {
  if (config === undefined || original.resource !== copy.resource) return false
  const mapped = mirrorFor(copy.resource)?.originalOf?.(copy, { ...place, config })
  return mapped?.namespace === original.namespace && mapped.name === original.name
}

function outside(message: string): Settled {
  return refused('OutsideTenant', message)
}

function unguarded(op: string): Settled {
  return refused('PoisonMessage', `a ${op} without the uid of its object`)
}
