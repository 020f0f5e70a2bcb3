import { cloneJson } from '#libs/kernel'
import { type KubeObject, type ObjectRef, RESOURCES } from '#libs/kube-model'
import { isEnabled } from '#libs/sync-config'
import { objectsIn } from '../../json.ts'
import type { TranslateInput } from '../../kind.ts'
import { hostRefOf } from '../../names.ts'
import { contentOf } from '../../owned-fields.ts'
import { isCopyOf } from '../../stamps.ts'
import { type Content, ownedKind } from '../owned-kind.ts'
import { areLeftEndpoints, isNotForUs, translateTargets } from './for-service.ts'

/** Endpoints cross for Services without selector; the host makes those of the others. */
export const endpoints = ownedKind({
  resource: RESOURCES.endpoints,
  version: 1,
  isEnabled: (config) => isEnabled(config, 'toHost', 'endpoints') && isEnabled(config, 'toHost', 'services'),
  references: ({ virtual }) => (virtual === undefined ? [] : [serviceOf(virtual)]),
  followsReferences: ['services'],
  excluded: (virtual, related) => isNotForUs(serviceOf(virtual), related),
  isDerived,
  content,
})

/** Endpoints have the name of their Service. */
function serviceOf({ metadata }: KubeObject): ObjectRef {
  return { resource: 'services', namespace: metadata.namespace ?? '', name: metadata.name ?? '' }
}

function content({ virtual, tenant, related }: TranslateInput): Content {
  const fields = cloneJson(contentOf(virtual))
  const context = { namespace: virtual.metadata.namespace ?? '', tenant, related }
  for (const subset of objectsIn(fields.subsets)) {
    translateTargets(subset.addresses, context)
    translateTargets(subset.notReadyAddresses, context)
  }
  return { kind: 'content', fields }
}

function isDerived({ virtual, host, tenant, related }: TranslateInput & { host: KubeObject }): boolean {
  const ref = serviceOf(virtual)
  const copy = related.host(hostRefOf(ref, tenant))
  return copy !== undefined && isCopyOf(copy, tenant, ref) && areLeftEndpoints(host, { ref, copy, tenant: tenant.name })
}
