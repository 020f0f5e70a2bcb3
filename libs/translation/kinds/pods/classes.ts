import type { JsonObject, ObjectRef } from '#libs/kube-model'
import { isEnabled } from '#libs/sync-config'
import { asName } from '../../json.ts'
import type { TranslateInput } from '../../kind.ts'
import { isShown } from '../../classes.ts'
import { hostName } from '../../names.ts'

const PRIORITIES = 'priorityclasses.scheduling.k8s.io'
const RUNTIMES = 'runtimeclasses.node.k8s.io'

/** Classes of the copy that must be on the host before it, or the class that there is not, as a sentence. */
export type Classes = { needs: ObjectRef[] } | { unknown: string }

/**
 * Puts in place of a pod's classes those of the host: translated where the tenant's own cross, kept where the tenant sees
 * the host's, else left out with all that follows from them. Changes `spec`, which is the copy's.
 */
export function replaceClasses(spec: JsonObject, input: TranslateInput): Classes {
  const priority = priorityClass(asName(spec.priorityClassName), input)
  if ('unknown' in priority) return priority
  const runtime = runtimeClass(asName(spec.runtimeClassName), input)
  if ('unknown' in runtime) return runtime
  const { pods } = input.tenant.config.sync.toHost
  setOrDelete(spec, 'priorityClassName', priority.name ?? asName(pods.priorityClassName))
  // The host works them out from the class.
  delete spec.priority
  delete spec.preemptionPolicy
  const kept = spec.runtimeClassName === runtime.name && runtime.name !== undefined
  setOrDelete(spec, 'runtimeClassName', runtime.name)
  if (!kept) delete spec.overhead
  return { needs: priority.needs ?? [] }
}

type Found = { name?: string; needs?: ObjectRef[] } | { unknown: string }

function priorityClass(name: string | undefined, input: TranslateInput): Found {
  const { config, name: tenant } = input.tenant
  if (name === undefined) return {}
  // Those of Kubernetes itself rank above everything of the host's that is no part of Kubernetes.
  if (name.startsWith('system-')) return {}
  if (isEnabled(config, 'toHost', 'priorityClasses')) {
    const ref = { resource: PRIORITIES, namespace: '', name }
    if (input.related.virtual(ref) === undefined) return { unknown: `there is no PriorityClass "${name}"` }
    return { name: hostName(ref, tenant), needs: [ref] }
  }
  const { enabled, selector } = config.sync.fromHost.priorityClasses
  if (!enabled) return {}
  return isShown({ resource: PRIORITIES, namespace: '', name }, selector, input)
    ? { name }
    : { unknown: `there is no PriorityClass "${name}"` }
}

function runtimeClass(name: string | undefined, input: TranslateInput): Found {
  const { toHost, fromHost } = input.tenant.config.sync
  const enforced = asName(toHost.pods.runtimeClassName)
  if (enforced !== undefined) return { name: enforced }
  if (name === undefined || !fromHost.runtimeClasses.enabled) return {}
  return isShown({ resource: RUNTIMES, namespace: '', name }, fromHost.runtimeClasses.selector, input)
    ? { name }
    : { unknown: `there is no RuntimeClass "${name}"` }
}

function setOrDelete(spec: JsonObject, field: string, value: string | undefined): void {
  if (value === undefined) delete spec[field]
  else spec[field] = value
}
