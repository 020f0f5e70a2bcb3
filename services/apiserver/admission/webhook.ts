import type { KubeObject } from '#libs/kube-model'
import { CelError, evaluateCel } from '../custom-resources/cel.ts'
import { CelSyntaxError, parseCel } from '../custom-resources/cel-parser.ts'
import type { ApiResource } from '../discovery/resources.ts'
import { parseLabelSelector } from '../selectors/label-selector.ts'
import type { Identity } from '../tokens/identity.ts'

export const CONFIGURATIONS = 'validatingwebhookconfigurations.admissionregistration.k8s.io'

type Rule = {
  operations?: string[]
  apiGroups?: string[]
  apiVersions?: string[]
  resources?: string[]
  scope?: string
}

type LabelSelector = {
  matchLabels?: Record<string, string>
  matchExpressions?: { key: string; operator: string; values?: string[] }[]
}

/** https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/ */
export type Webhook = {
  name: string
  clientConfig: {
    url?: string
    caBundle?: string
    service?: { namespace: string; name: string; path?: string; port?: number }
  }
  rules?: Rule[]
  failurePolicy?: 'Fail' | 'Ignore'
  matchPolicy?: string
  namespaceSelector?: LabelSelector
  objectSelector?: LabelSelector
  matchConditions?: { name: string; expression: string }[]
  sideEffects?: string
  timeoutSeconds?: number
}

type Operation = 'CREATE' | 'UPDATE' | 'DELETE'

/** A write that webhooks are asked about. */
export type AdmissionAttributes = {
  operation: Operation
  resource: ApiResource
  subresource: string | undefined
  namespace: string
  name: string
  object: KubeObject | undefined
  oldObject: KubeObject | undefined
  user: Identity
  dryRun: boolean
  /** Kind of the options, such as `CreateOptions`. */
  options: string
}

/** Whether a webhook wants to know of a write. `namespace`: the object of the write's namespace. */
export function isConcerned(webhook: Webhook, write: AdmissionAttributes, namespace: KubeObject | undefined): boolean {
  if (!(webhook.rules ?? []).some((rule) => matchesRule(rule, write))) return false
  const place = write.resource.token === 'namespaces' ? (write.object ?? write.oldObject) : namespace
  if (place !== undefined && !selects(webhook.namespaceSelector, place)) return false
  const objects = [write.object, write.oldObject].filter((object) => object !== undefined)
  if (!objects.some((object) => selects(webhook.objectSelector, object))) return false
  return (webhook.matchConditions ?? []).every(({ expression }) => holds(expression, write))
}

function matchesRule(rule: Rule, { operation, resource, subresource }: AdmissionAttributes): boolean {
  const has = (list: readonly string[] | undefined, value: string): boolean =>
    (list ?? []).some((item) => item === '*' || item === value)
  const scope = resource.namespaced ? 'Namespaced' : 'Cluster'
  return (
    has(rule.operations, operation) &&
    has(rule.apiGroups, resource.group) &&
    has(rule.apiVersions, resource.version) &&
    (rule.scope === undefined || rule.scope === '*' || rule.scope === scope) &&
    (rule.resources ?? []).some((pattern) => matchesResource(pattern, resource.plural, subresource))
  )
}

/** Patterns: `pods`, `*`, `pods/status`, `pods/*`, `*\/scale`, `*\/*`. */
function matchesResource(pattern: string, plural: string, subresource: string | undefined): boolean {
  const [resource = '', sub] = pattern.split('/')
  if (pattern === '*/*') return true
  if (resource !== '*' && resource !== plural) return false
  return sub === undefined ? subresource === undefined : sub === '*' ? true : sub === subresource
}

function selects(selector: LabelSelector | undefined, { metadata }: KubeObject): boolean {
  const texts = Object.entries(selector?.matchLabels ?? {}).map(([key, value]) => `${key}=${value}`)
  for (const { key, operator, values = [] } of selector?.matchExpressions ?? []) {
    if (operator === 'In') texts.push(`${key} in (${values.join(',')})`)
    else if (operator === 'NotIn') texts.push(`${key} notin (${values.join(',')})`)
    else texts.push(operator === 'Exists' ? key : `!${key}`)
  }
  return parseLabelSelector(texts.join(','))(metadata.labels)
}

/** A condition that cannot be computed counts as met: the webhook then decides itself. */
function holds(expression: string, write: AdmissionAttributes): boolean {
  const { object = null, oldObject = null } = write
  try {
    return evaluateCel(parseCel(expression), { object, oldObject, request: requestOf(write) }) !== false
  } catch (error) {
    if (error instanceof CelError || error instanceof CelSyntaxError) return true
    throw error
  }
}

/** What a webhook is told of a write, without its id. */
export function requestOf(write: AdmissionAttributes): Record<string, unknown> {
  const { operation, resource, subresource, namespace, name, object = null, oldObject = null, user } = write
  const { group, version, kind, plural } = resource
  const sub = subresource === undefined ? {} : { subResource: subresource, requestSubResource: subresource }
  const { username, uid, groups, extra } = user
  return {
    kind: { group, version, kind },
    resource: { group, version, resource: plural },
    ...sub,
    requestKind: { group, version, kind },
    requestResource: { group, version, resource: plural },
    name,
    ...(namespace === '' ? {} : { namespace }),
    operation,
    userInfo: { username, groups, ...(uid === undefined ? {} : { uid }), ...(extra === undefined ? {} : { extra }) },
    object,
    oldObject,
    dryRun: write.dryRun,
    options: { kind: write.options, apiVersion: 'meta.k8s.io/v1' },
  }
}
