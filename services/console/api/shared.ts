import { partitionOf } from '#libs/events'
import { resourceNamed } from '#libs/explain'
import type { ObjectRef, ResourceInfo } from '#libs/kube-model'
import type { TenantEntry } from '#libs/runtime'
import { defaultTenantConfig } from '#libs/sync-config'
import { Problem } from '../http/problem.ts'
import type { Parameter } from '../http/route.ts'
import type { ConsoleContext } from './console-context.ts'

/** Stands for no namespace in paths. */
const NO_NAMESPACE = '_'

/** Parameters of what is told a page at a time. */
export const pageQuery = {
  offset: { type: 'whole', description: 'how many are passed over', default: 0, least: 0, most: 10_000_000 },
  limit: { type: 'whole', description: 'how many at most', default: 50, least: 1, most: 200 },
} as const satisfies Record<string, Parameter>

/** What narrows down a choice of objects. */
export const objectQuery = {
  search: { type: 'text', description: 'part of the name', default: '' },
  side: { type: 'text', description: 'only those of this side', oneOf: ['virtual', 'host'] },
  resource: { type: 'text', description: 'only those of this resource, such as pods or deployments.apps' },
  namespace: { type: 'text', description: 'only those of this namespace' },
} as const satisfies Record<string, Parameter>

/** A tenant as registered. @throws Problem 404 */
export function registered({ directory }: Pick<ConsoleContext, 'directory'>, name = ''): TenantEntry {
  const entry = directory.tenant(name)
  if (entry === undefined) throw new Problem(404, 'NoSuchTenant', `no tenant "${name}" is registered`)
  return entry
}

/** A tenant with its partition. @throws Problem 404 */
export function placed(context: ConsoleContext, name: string | undefined): { name: string; partition: number } {
  const entry = registered(context, name)
  return { name: entry.name, partition: partitionOf(entry.name, context.partitions) }
}

/** The object that a path names. @throws Problem 404 where the resource is no kind that is known */
export function namedObject(
  context: Pick<ConsoleContext, 'directory'>,
  path: Record<string, string>,
): { ref: ObjectRef; info: ResourceInfo } {
  const { resource = '', namespace = '', name = '' } = path
  const config = context.directory.context(path['tenant'] ?? '')?.config ?? defaultTenantConfig()
  const named = resourceNamed(resource, config)
  if (named === undefined) throw new Problem(404, 'NoSuchKind', `"${resource}" is no kind that is known`)
  return {
    info: named.info,
    ref: { resource: named.token, namespace: namespace === NO_NAMESPACE ? '' : namespace, name },
  }
}
