import { cloneJson } from '#libs/kernel'
import type { JsonObject } from '#libs/kube-model'
import { asObject, objectsIn, textOf } from './json.ts'
import { hostLabelKey, namespaceLabelKey } from './metadata.ts'
import { LABELS } from './stamps.ts'
import type { TenantContext } from './view.ts'

/** Which namespaces of the tenant a selector on the host covers. */
export type NamespaceScope =
  | { kind: 'one'; namespace: string }
  | { kind: 'some'; namespaces: string[] }
  | { kind: 'all' }
  /** By a selector over the labels of namespaces. */
  | { kind: 'selected'; selector: JsonObject }

/**
 * The label selector that selects on the host what `selector` selects among the tenant's objects: its keys as they
 * stand on host objects, and terms that keep it to the tenant and to the given namespaces.
 */
export function hostLabelSelector(selector: JsonObject, scope: NamespaceScope, tenant: TenantContext): JsonObject {
  const pods = renamed(selector, (key) => hostLabelKey(key, tenant))
  const namespaces = scope.kind === 'selected' ? renamed(scope.selector, namespaceLabelKey) : undefined
  const expressions = [...pods.expressions, ...(namespaces?.expressions ?? [])]
  if (scope.kind === 'some') {
    expressions.push({ key: LABELS.namespace, operator: 'In', values: [...scope.namespaces] })
  }
  return {
    ...namespaces?.rest,
    ...pods.rest,
    matchLabels: {
      ...pods.labels,
      ...namespaces?.labels,
      ...(scope.kind === 'one' ? { [LABELS.namespace]: scope.namespace } : {}),
      [LABELS.tenant]: tenant.name,
    },
    ...(expressions.length === 0 ? {} : { matchExpressions: expressions }),
  }
}

/** Selects the host namespaces that stand for the tenant's. */
export function hostNamespaceSelector(tenant: Pick<TenantContext, 'name'>): JsonObject {
  return { matchLabels: { [LABELS.tenant]: tenant.name } }
}

function renamed(selector: JsonObject, rename: (key: string) => string) {
  const { matchLabels, matchExpressions, ...rest } = selector
  const labels = Object.entries(asObject(matchLabels) ?? {}).map(([key, value]) => [rename(key), value])
  const expressions = objectsIn(matchExpressions).map((expression) => ({
    ...cloneJson(expression),
    key: rename(textOf(expression.key)),
  }))
  return {
    rest: cloneJson(rest),
    labels: Object.fromEntries(labels) as JsonObject,
    expressions: expressions as JsonObject[],
  }
}
