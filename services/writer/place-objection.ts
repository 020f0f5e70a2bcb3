import { type KubeObject, RESOURCES } from '#libs/kube-model'
import { hasOwnNamespaces, isCopyOf } from '#libs/translation'
import { isAbsent } from './classify.ts'
import type { Call, ExecuteDeps } from './execute.ts'
import { type Attempt, parked } from './result.ts'

/**
 * Looks at the host namespace that a copy is to be created in, where the tenant's namespaces have some of their own: one
 * that does not stand for the original's namespace may be anybody's, whatever its name.
 * @returns what stands against the creation
 * @throws any other error of the API
 */
export async function placeObjection(call: Call, { host, route }: ExecuteDeps): Promise<Attempt | undefined> {
  const { target, source } = call.intent
  const { config } = route
  if (target.side !== 'host' || target.namespace === '' || config === undefined || !hasOwnNamespaces(route)) {
    return undefined
  }
  let live: KubeObject
  try {
    live = await host.get(RESOURCES.namespaces, { name: target.namespace }, call.options)
  } catch (error) {
    if (isAbsent(error)) return parked('NamespaceMissing', `there is no namespace "${target.namespace}" yet`)
    throw error
  }
  const of = { resource: 'namespaces', namespace: '', name: source.namespace }
  if (isCopyOf(live, { ...route, config }, of)) return undefined
  return parked('ForeignObject', `namespace "${target.namespace}" does not stand for yours`)
}
