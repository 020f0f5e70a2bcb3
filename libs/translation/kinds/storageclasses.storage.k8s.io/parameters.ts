import type { KubeObject, ObjectRef } from '#libs/kube-model'
import { stringMap } from '../../json.ts'
import { hostName, hostNamespaceFor } from '../../names.ts'
import type { TenantContext } from '../../view.ts'

/** The Secrets that drivers read by convention: name and namespace, for each of their calls. */
const SECRET_NAME = /^(csi\.storage\.k8s\.io\/.+-secret)-name$/
/** Parameters that say in which namespace a Secret is, of whatever driver. */
const SECRET_NAMESPACE = /secret-?namespace$/i

/**
 * The parameters of a class as they are on the host: Secrets that the driver reads are copies of the tenant's. A class
 * that says where a Secret is in any other way would reach Secrets of others, and cannot cross.
 */
export function translateParameters(
  virtual: KubeObject,
  tenant: TenantContext,
): { parameters: Record<string, string> } | { problem: string } | Record<string, never> {
  const parameters = stringMap(virtual.parameters)
  if (virtual.parameters === undefined) return {}
  const translated = { ...parameters }
  for (const [key, name] of Object.entries(parameters)) {
    const pair = SECRET_NAME.exec(key)?.[1]
    if (pair !== undefined) {
      const namespace = parameters[`${pair}-namespace`]
      if (namespace === undefined || isTemplate(namespace) || isTemplate(name)) {
        return { problem: `parameters["${key}"] must name one Secret, with its namespace in "${pair}-namespace"` }
      }
      translated[key] = hostName({ namespace, name }, tenant.name)
      translated[`${pair}-namespace`] = hostNamespaceFor(namespace, tenant)
    } else if (SECRET_NAMESPACE.test(key) && !isOfPair(key, parameters)) {
      return { problem: `parameters["${key}"] reaches Secrets outside of this cluster` }
    }
  }
  return { parameters: translated }
}

/** Whether a namespace goes with a name that is translated with it. */
function isOfPair(key: string, parameters: Record<string, string>): boolean {
  const name = key.replace(/namespace$/, 'name')
  return name !== key && SECRET_NAME.test(name) && parameters[name] !== undefined
}

/** The Secrets of the tenant that a class's driver reads. */
export function classSecrets(virtual: KubeObject | undefined): ObjectRef[] {
  const parameters = stringMap(virtual?.parameters)
  return Object.entries(parameters).flatMap(([key, name]) => {
    const pair = SECRET_NAME.exec(key)?.[1]
    const namespace = pair === undefined ? undefined : parameters[`${pair}-namespace`]
    if (namespace === undefined || isTemplate(namespace) || isTemplate(name)) return []
    return [{ resource: 'secrets', namespace, name }]
  })
}

/** Drivers fill in such values for each volume, from names that are others on the host. */
function isTemplate(text: string): boolean {
  return text.includes('${')
}
