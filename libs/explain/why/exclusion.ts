import type { KubeObject, ObjectRef } from '#libs/kube-model'
import {
  LABELS,
  RULES,
  type Rule,
  SWITCHES,
  type TenantContext,
  hasOwnNamespaces,
  isNamespaceMapped,
} from '#libs/translation'
import type { Facts } from './facts.ts'

type Exclusion = NonNullable<Facts['excluded']>

/** What of an object, or of its tenant's configuration, keeps it from the host, and how that could be changed. */
export function exclusionOf(
  rule: Rule | 'unknown',
  virtual: KubeObject,
  of: { context: TenantContext; ref: ObjectRef },
): Exclusion {
  const { metadata } = virtual
  if (rule === 'unknown') {
    return {
      rule,
      because: 'it cannot be told yet whether it may cross: not all that it depends on has been seen',
      remedy: 'wait until the watcher has listed everything: "causeway status"',
    }
  }
  if (rule === 'unused') {
    return {
      rule,
      because: 'it crosses only while something that crosses refers to it, and nothing does',
      remedy: `let a pod refer to it, or set its annotation ${SWITCHES.sync} to "true"`,
    }
  }
  if (metadata.annotations?.[SWITCHES.sync] === 'false') {
    return { rule, because: `its annotation ${SWITCHES.sync} is "false"`, remedy: 'take the annotation away' }
  }
  if (metadata.labels?.[LABELS.mirror] === 'true') {
    return { rule, because: 'it is the tenant’s copy of an object of the host', remedy: 'nothing: it is to be so' }
  }
  if (rule !== 'excluded') return { rule, because: RULES[rule] }
  const namespace = of.ref.resource === 'namespaces' ? of.ref.name : of.ref.namespace
  const { mappingsOnly } = of.context.config.sync.toHost.namespaces
  if (hasOwnNamespaces(of.context) && mappingsOnly && namespace !== '' && !isNamespaceMapped(namespace, of.context)) {
    return {
      rule,
      because: `sync.toHost.namespaces.mappingsOnly is on, and namespace ${namespace} is not mapped`,
      remedy: 'map the namespace in the tenant’s configuration',
    }
  }
  return { rule, because: 'objects like this one never cross', remedy: 'nothing: it is to be so' }
}
