import { cloneJson } from '#libs/kernel'
import { type JsonObject, RESOURCES } from '#libs/kube-model'
import { isEnabled } from '#libs/sync-config'
import { asObject, objectsIn } from '../../json.ts'
import type { TranslateInput } from '../../kind.ts'
import { hasOwnNamespaces } from '../../names.ts'
import { contentOf } from '../../owned-fields.ts'
import { hostLabelSelector, hostNamespaceSelector } from '../../selectors.ts'
import type { TenantContext } from '../../view.ts'
import { type Content, ownedKind } from '../owned-kind.ts'

/** NetworkPolicies cross, confined to the tenant's pods: those that they hold for, and those that they name as peers. */
export const networkPolicies = ownedKind({
  resource: RESOURCES['networkpolicies.networking.k8s.io'],
  version: 1,
  isEnabled: (config) => isEnabled(config, 'toHost', 'networkPolicies'),
  content,
})

/** What a peer may say. Of anything else it cannot be told whom it lets in. */
const PEER_FIELDS: ReadonlySet<string> = new Set(['podSelector', 'namespaceSelector', 'ipBlock'])

const NOBODY = 'a peer that names nobody cannot be confined'

type Scope = { namespace: string; tenant: TenantContext }

function content({ virtual, tenant }: TranslateInput): Content {
  const fields = cloneJson(contentOf(virtual))
  const scope: Scope = { namespace: virtual.metadata.namespace ?? '', tenant }
  const spec = asObject(fields.spec) ?? {}
  const problem = confineRules(spec.ingress, 'from', scope) ?? confineRules(spec.egress, 'to', scope)
  if (problem !== undefined) return { kind: 'reject', reason: 'Unsupported', message: problem }
  // Without a selector it would hold for every pod of the host namespace.
  spec.podSelector = confined(asObject(spec.podSelector) ?? {}, scope)
  return { kind: 'content', fields: { ...fields, spec } }
}

/** @returns what is wrong with a rule that cannot be confined */
function confineRules(rules: unknown, field: 'from' | 'to', scope: Scope): string | undefined {
  for (const rule of objectsIn(rules)) {
    // A rule without peers speaks of all traffic, wherever it comes from.
    if (rule[field] === undefined) continue
    const peers = objectsIn(rule[field])
    if (Array.isArray(rule[field]) && rule[field].length !== peers.length) return NOBODY
    const unknown = peers.flatMap((peer) => Object.keys(peer)).find((key) => !PEER_FIELDS.has(key))
    if (unknown !== undefined) return `a peer by ${unknown} cannot be confined to your pods`
    if (peers.some((peer) => Object.keys(peer).length === 0)) return NOBODY
    rule[field] = peers.map((peer) => hostPeer(peer, scope))
  }
  return undefined
}

/** All pods of a tenant are in its host namespaces, so that namespaces are told by the labels of pods. */
function hostPeer(peer: JsonObject, scope: Scope): JsonObject {
  const { podSelector, namespaceSelector, ...rest } = peer
  if (podSelector === undefined && namespaceSelector === undefined) return rest
  const { tenant } = scope
  const pods = asObject(podSelector) ?? {}
  const namespaces = asObject(namespaceSelector)
  if (namespaces === undefined) return { ...rest, podSelector: confined(pods, scope) }
  return {
    ...rest,
    podSelector: hostLabelSelector(pods, { kind: 'selected', selector: namespaces }, tenant),
    // Where each namespace has one of its own on the host, pods of other namespaces are not in the policy's.
    ...(hasOwnNamespaces(tenant) ? { namespaceSelector: hostNamespaceSelector(tenant) } : {}),
  }
}

function confined(selector: JsonObject, { namespace, tenant }: Scope): JsonObject {
  return hostLabelSelector(selector, { kind: 'one', namespace }, tenant)
}
