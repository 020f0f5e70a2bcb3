import { RESOURCES } from '#libs/kube-model'
import { hasOwnNamespaces, isCopyOf } from '#libs/translation'
import { isAbsent } from './classify.ts'
import type { Call, ExecuteDeps } from './execute.ts'
import type { TenantRoute, WriterClient } from './ports.ts'
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
  const isOwn = await isPlaceOf(route, { host, namespace: target.namespace, of: source.namespace }, call.options)
  if (isOwn === undefined) return parked('NamespaceMissing', `there is no namespace "${target.namespace}" yet`)
  return isOwn ? undefined : parked('ForeignObject', `namespace "${target.namespace}" does not stand for yours`)
}

/**
 * Whether a host namespace stands for one of the tenant's, as it is now; `undefined` when it is not there. Where all that
 * the tenant has is in one host namespace, that is the one.
 * @throws any other error of the API
 */
export async function isPlaceOf(
  route: Pick<TenantRoute, 'name' | 'hostNamespace' | 'config'>,
  place: { host: WriterClient; namespace: string; of: string },
  options: { signal: AbortSignal; timeoutMs: number },
): Promise<boolean | undefined> {
  const { host, namespace, of } = place
  const { config } = route
  if (config === undefined || !hasOwnNamespaces(route)) return namespace === route.hostNamespace
  try {
    const live = await host.get(RESOURCES.namespaces, { name: namespace }, options)
    return isCopyOf(live, { ...route, config }, { resource: 'namespaces', namespace: '', name: of })
  } catch (error) {
    if (isAbsent(error)) return undefined
    throw error
  }
}
