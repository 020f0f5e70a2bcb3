import type { JsonObject, KubeObject, ObjectRef } from '#libs/kube-model'
import { asName, asObject, objectsIn, stringMap, textOf } from '../../json.ts'
import { hostName, hostRefOf } from '../../names.ts'
import type { TenantContext } from '../../view.ts'

const NGINX = 'nginx.ingress.kubernetes.io/'
const ALB_ACTIONS = 'alb.ingress.kubernetes.io/actions.'
const ALB_CONDITIONS = 'alb.ingress.kubernetes.io/conditions.'

/** Annotations whose value is `name` or `namespace/name` of another object, with its resource. */
const NAMES: Readonly<Record<string, string>> = {
  [`${NGINX}auth-secret`]: 'secrets',
  [`${NGINX}auth-tls-secret`]: 'secrets',
  [`${NGINX}proxy-ssl-secret`]: 'secrets',
  [`${NGINX}auth-proxy-set-headers`]: 'configmaps',
  [`${NGINX}fastcgi-params-configmap`]: 'configmaps',
  [`${NGINX}default-backend`]: 'services',
}

/** Whether an annotation of an Ingress names other objects, in its value or its key. */
export function holdsName(key: string): boolean {
  return Object.hasOwn(NAMES, key) || key.startsWith(ALB_ACTIONS) || key.startsWith(ALB_CONDITIONS)
}

/** The objects that an Ingress names in the values of annotations. */
export function annotationReferences(ingress: KubeObject): ObjectRef[] {
  return Object.entries(NAMES).flatMap(([key, resource]) => {
    const ref = refIn(ingress, key, resource)
    return ref === undefined ? [] : [ref]
  })
}

/**
 * The annotations that name other objects, as they are on the host. A value that is no name is left out.
 * @param actions names of backends that are no Services, but actions of a load balancer: they stay as they are
 */
export function hostAnnotations(
  ingress: KubeObject,
  tenant: TenantContext,
  actions: ReadonlySet<string>,
): Record<string, string> {
  const result: Record<string, string> = {}
  const namespace = ingress.metadata.namespace ?? ''
  for (const [key, value] of Object.entries(stringMap(ingress.metadata.annotations))) {
    const resource = Object.hasOwn(NAMES, key) ? NAMES[key] : undefined
    if (resource !== undefined) {
      const ref = refIn(ingress, key, resource)
      const host = ref === undefined ? undefined : hostRefOf(ref, tenant)
      if (host !== undefined) result[key] = value.includes('/') ? `${host.namespace}/${host.name}` : host.name
      continue
    }
    for (const prefix of [ALB_ACTIONS, ALB_CONDITIONS]) {
      if (!key.startsWith(prefix)) continue
      const name = key.slice(prefix.length)
      const hostKey = prefix + (actions.has(name) ? name : hostName({ namespace, name }, tenant.name))
      result[hostKey] = prefix === ALB_ACTIONS ? hostAction(value, { namespace, tenant }) : value
    }
  }
  return result
}

/** The Services that an action forwards to; an action that is no JSON is left to the load balancer to refuse. */
function hostAction(text: string, context: { namespace: string; tenant: TenantContext }): string {
  let action: JsonObject | undefined
  try {
    action = asObject(JSON.parse(text))
  } catch {
    return text
  }
  if (action === undefined) return text
  const { namespace, tenant } = context
  const rename = (holder: JsonObject | undefined): void => {
    const name = asName(holder?.serviceName)
    if (holder !== undefined && name !== undefined) holder.serviceName = hostName({ namespace, name }, tenant.name)
  }
  rename(action)
  for (const target of objectsIn(asObject(action.forwardConfig)?.targetGroups)) rename(target)
  return JSON.stringify(action)
}

function refIn(ingress: KubeObject, key: string, resource: string): ObjectRef | undefined {
  const parts = textOf(ingress.metadata.annotations?.[key]).split('/')
  const [first = '', second = ''] = parts
  if (parts.length > 2 || first === '' || (parts.length === 2 && second === '')) return undefined
  const own = ingress.metadata.namespace ?? ''
  return parts.length === 1 ? { resource, namespace: own, name: first } : { resource, namespace: first, name: second }
}
