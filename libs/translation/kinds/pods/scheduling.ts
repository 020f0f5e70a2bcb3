import { jsonEqual } from '#libs/kernel'
import type { Json, JsonObject, KubeObject } from '#libs/kube-model'
import { asObject, objectsIn, stringMap, textOf } from '../../json.ts'
import { hostLabelKey } from '../../metadata.ts'
import { hasOwnNamespaces } from '../../names.ts'
import { type NamespaceScope, hostLabelSelector, hostNamespaceSelector } from '../../selectors.ts'
import type { TenantContext } from '../../view.ts'

/** What of scheduling constraints cannot be said on the host, as a sentence, or nothing. */
export type Problem = string | undefined

const AFFINITIES = ['podAffinity', 'podAntiAffinity'] as const
const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution'
const PREFERRED = 'preferredDuringSchedulingIgnoredDuringExecution'

/**
 * Keeps every selector among a pod's scheduling constraints to the tenant's own pods. Changes `spec`, which is the
 * copy's.
 * @returns a problem when a term has no equivalent on the host
 */
export function confineScheduling(spec: JsonObject, virtual: KubeObject, tenant: TenantContext): Problem {
  const context: Context = { virtual, tenant, namespace: virtual.metadata.namespace ?? '' }
  for (const constraint of objectsIn(spec.topologySpreadConstraints)) confineSpread(constraint, context)
  const affinity = asObject(spec.affinity)
  for (const kind of AFFINITIES) {
    const rules = asObject(affinity?.[kind])
    if (rules === undefined) continue
    const required = objectsIn(rules[REQUIRED])
    if (kind === 'podAffinity' && required.some((term) => isUnion(term))) {
      return 'a required podAffinity term with both namespaces and namespaceSelector cannot be expressed on the host: use one of them'
    }
    if (required.length > 0) rules[REQUIRED] = required.flatMap((term) => confineTerm(term, context))
    const preferred = objectsIn(rules[PREFERRED])
    if (preferred.length > 0) rules[PREFERRED] = preferred.flatMap((weighted) => confineWeighted(weighted, context))
  }
  return undefined
}

type Context = { virtual: KubeObject; tenant: TenantContext; namespace: string }

function confineWeighted(weighted: JsonObject, context: Context): JsonObject[] {
  const term = asObject(weighted.podAffinityTerm)
  if (term === undefined) return [weighted]
  return confineTerm(term, context).map((confined) => ({ ...weighted, podAffinityTerm: confined }))
}

/** One term for each way its namespaces are named: one selector cannot say "these or those". */
function confineTerm(term: JsonObject, context: Context): JsonObject[] {
  const { namespaces: _namespaces, namespaceSelector: _namespaceSelector, ...rest } = term
  const { labelSelector: _labelSelector, ...unselective } = rest
  const selector = withoutLookedUp(rest, context)
  // Without a selector a term matches no pods at all, wherever they are.
  if (selector === undefined) return [renameLookedUp(unselective, context)]
  return scopesOf(term, context).map((scope) => ({
    ...renameLookedUp(rest, context),
    labelSelector: hostLabelSelector(selector, scope, context.tenant),
    // The pods of other namespaces are in others on the host as well. Whose and of which they are, their labels say.
    ...(scope.kind !== 'one' && hasOwnNamespaces(context.tenant)
      ? { namespaceSelector: hostNamespaceSelector(context.tenant) }
      : {}),
  }))
}

function confineSpread(constraint: JsonObject, context: Context): void {
  const selector = withoutLookedUp(constraint, context)
  Object.assign(constraint, renameLookedUp(constraint, context))
  if (selector === undefined) return
  const scope: NamespaceScope = { kind: 'one', namespace: context.namespace }
  constraint.labelSelector = hostLabelSelector(selector, scope, context.tenant)
}

function scopesOf(term: JsonObject, { namespace }: Context): NamespaceScope[] {
  const namespaces = namesIn(term.namespaces)
  const selector = asObject(term.namespaceSelector)
  if (selector !== undefined && isEmptySelector(selector)) return [{ kind: 'all' }]
  const scopes: NamespaceScope[] = []
  if (namespaces.length > 0) scopes.push({ kind: 'some', namespaces })
  if (selector !== undefined) scopes.push({ kind: 'selected', selector })
  return scopes.length === 0 ? [{ kind: 'one', namespace }] : scopes
}

function isUnion(term: JsonObject): boolean {
  const selector = asObject(term.namespaceSelector)
  return namesIn(term.namespaces).length > 0 && selector !== undefined && !isEmptySelector(selector)
}

function isEmptySelector({ matchLabels, matchExpressions, ...unknown }: JsonObject): boolean {
  const terms = { ...asObject(matchLabels), ...unknown }
  return Object.keys(terms).length === 0 && objectsIn(matchExpressions).length === 0
}

/**
 * The selector without the expressions that the tenant's API derived from `matchLabelKeys` and `mismatchLabelKeys`:
 * the host's API derives them again, and refuses a key that is there already.
 */
function withoutLookedUp(term: JsonObject, { virtual }: Context): JsonObject | undefined {
  const selector = asObject(term.labelSelector)
  if (selector === undefined) return undefined
  const labels = stringMap(virtual.metadata.labels)
  const isDerived = (expression: JsonObject): boolean => {
    const key = textOf(expression.key)
    const keys = expression.operator === 'In' ? term.matchLabelKeys : term.mismatchLabelKeys
    const derived = expression.operator === 'In' || expression.operator === 'NotIn'
    return derived && namesIn(keys).includes(key) && jsonEqual(expression.values, [labels[key]])
  }
  const expressions = objectsIn(selector.matchExpressions).filter((expression) => !isDerived(expression))
  const { matchExpressions: _matchExpressions, ...rest } = selector
  return expressions.length === 0 ? rest : { ...rest, matchExpressions: expressions }
}

function renameLookedUp(term: JsonObject, { tenant }: Context): JsonObject {
  const renamed = { ...term }
  for (const field of ['matchLabelKeys', 'mismatchLabelKeys']) {
    if (Array.isArray(term[field])) renamed[field] = namesIn(term[field]).map((key) => hostLabelKey(key, tenant))
  }
  return renamed
}

function namesIn(value: Json | undefined): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : []
}
