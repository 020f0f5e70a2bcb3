import { type Expression, compileExpression } from '#libs/expressions'
import { canonicalJson, jsonEqual, sha256Hex } from '#libs/kernel'
import type { Json, JsonObject, KubeObject, ObjectRef } from '#libs/kube-model'
import type { PatchConfig } from '#libs/sync-config'
import { asObject, stringMap } from '../json.ts'
import { hostLabelKey } from '../metadata.ts'
import { hostNamespaceFor, hostRefOf } from '../names.ts'
import { hostLabelSelector } from '../selectors.ts'
import { LABELS } from '../stamps.ts'
import type { TenantContext } from '../view.ts'
import { holdsOwn, holdsSelector } from './check-patch.ts'
import { type Segment, isTextAt, parsePath } from './path.ts'
import { type ReferenceConfig, referenceOnHost } from './reference.ts'

/** A value after a patch, or why there is none. `null` takes a field out. */
export type Patched = { ok: true; value: Json } | { ok: false; problem: string }

/** What a patch's expressions know besides the value. */
export type PatchContext = { tenant: TenantContext; ref: ObjectRef; hostName: string; object: KubeObject }

/** One patch of the configuration, ready to be applied. */
export type ConfiguredPatch = {
  path: string
  /** Changes with what the patch does. */
  id: string
  segments: readonly Segment[]
  hasForward: boolean
  hasReverse: boolean
  reference?: ReferenceConfig
  /** What a value becomes on its way out. */
  forward(value: Json, context: PatchContext): Patched
  /** What a value becomes on its way back. */
  reverse(value: Json, context: PatchContext): Patched
}

/** Reads a patch. One that does not stand its check was refused where the configuration was read; here it does nothing. */
export function configuredPatch(
  config: PatchConfig,
  tenant: Pick<TenantContext, 'reservedLabels'>,
): ConfiguredPatch | undefined {
  const segments = parsePath(config.path)
  const expression = compiled(config.expression)
  const reverse = compiled(config.reverseExpression)
  if (segments === undefined || expression === 'unsound' || reverse === 'unsound') return undefined
  const { reference, labels } = config
  const forward = (value: Json, context: PatchContext): Patched => {
    if (reference !== undefined)
      return { ok: true, value: referenceOnHost(value, reference, { ...context, ...context.ref }) }
    if (labels !== undefined) return { ok: true, value: confined(value, context) }
    return expression === undefined ? { ok: true, value } : applied(config.path, expression, { value, context })
  }
  return {
    path: config.path,
    id: sha256Hex(canonicalJson(config)).slice(0, 6),
    segments: onHost(segments, tenant),
    hasForward: expression !== undefined || reference !== undefined || labels !== undefined,
    hasReverse: reverse !== undefined,
    ...(reference === undefined ? {} : { reference }),
    forward,
    reverse: (value, context) =>
      reverse === undefined ? { ok: true, value } : applied(config.path, reverse, { value, context }),
  }
}

/** Stands for a patch that the configuration no longer has: what it made is put back to what the tenant has. */
export function withdrawnPatch(path: string): ConfiguredPatch | undefined {
  const segments = parsePath(path)
  if (segments === undefined) return undefined
  const asItIs = (value: Json): Patched => ({ ok: true, value })
  return { path, id: '', segments, hasForward: false, hasReverse: false, forward: asItIs, reverse: asItIs }
}

/** The context of an object of the tenant's, or of a host object that it is to see under its own name. */
export function patchContext(
  ref: ObjectRef,
  object: KubeObject,
  options: { tenant: TenantContext; isMirror?: boolean },
): PatchContext {
  const { tenant, isMirror = false } = options
  return { tenant, ref, object, hostName: isMirror ? ref.name : hostRefOf(ref, tenant).name }
}

function compiled(source: string | undefined): Expression | 'unsound' | undefined {
  if (source === undefined) return undefined
  const expression = compileExpression(source)
  return 'problem' in expression ? 'unsound' : expression
}

function applied(path: string, expression: Expression, input: { value: Json; context: PatchContext }): Patched {
  const { value, context } = input
  const refused = (problem: string): Patched => ({
    ok: false,
    problem: `patch of ${path}: ${expression.source.slice(0, 200)}: ${problem}`,
  })
  if (holdsOwn(value)) return refused('the value holds what confines it to the tenant; name fields below it')
  const computed = expression.compute(value, expression.usesContext ? contextValue(context) : {})
  // What goes wrong may quote the value, and is written to the log.
  if (!computed.ok) return refused(context.ref.resource === 'secrets' ? 'cannot be computed' : computed.problem)
  if (holdsOwn(computed.value)) return refused('the result holds what is under causeway.dev/')
  if (holdsSelector(computed.value) && !holdsSelector(value)) return refused('the result holds a selector')
  const segments = parsePath(path) ?? []
  if (isTextAt(segments) && computed.value !== null && typeof computed.value !== 'string') {
    return refused('the result is no text')
  }
  return computed
}

function contextValue({ tenant, ref, hostName, object }: PatchContext): JsonObject {
  const { status: _status, ...content } = object
  const { managedFields: _managed, ...metadata } = object.metadata as JsonObject
  return {
    name: ref.name,
    namespace: ref.namespace,
    tenant: tenant.name,
    hostName,
    hostNamespace: ref.namespace === '' ? '' : hostNamespaceFor(ref.namespace, tenant),
    object: { ...(content as JsonObject), metadata },
  }
}

/** Labels have their key on the host. */
function onHost(segments: readonly Segment[], tenant: Pick<TenantContext, 'reservedLabels'>): readonly Segment[] {
  const [first, second, key, ...rest] = segments
  if (first !== 'metadata' || second !== 'labels' || typeof key !== 'string') return segments
  return [first, second, hostLabelKey(key, tenant as TenantContext), ...rest]
}

/** A set of labels or a selector, with the terms that keep it to the tenant and the object's namespace. */
function confined(value: Json, { tenant, ref }: PatchContext): Json {
  const object = asObject(value)
  if (object === undefined || holdsOwn(object)) return value
  if (object.matchLabels !== undefined || object.matchExpressions !== undefined || Object.keys(object).length === 0) {
    const scope = ref.namespace === '' ? { kind: 'all' as const } : { kind: 'one' as const, namespace: ref.namespace }
    return hostLabelSelector(object, scope, tenant)
  }
  const labels = stringMap(object)
  if (!jsonEqual(labels, object)) return value
  return {
    ...Object.fromEntries(Object.entries(labels).map(([key, text]) => [hostLabelKey(key, tenant), text])),
    ...(ref.namespace === '' ? {} : { [LABELS.namespace]: ref.namespace }),
    [LABELS.tenant]: tenant.name,
  }
}
