import { cloneJson } from '#libs/kernel'
import { type KubeObject, type ObjectRef, RESOURCES } from '#libs/kube-model'
import { isEnabled } from '#libs/sync-config'
import { asName } from '../../json.ts'
import type { TranslateInput } from '../../kind.ts'
import { hostName } from '../../names.ts'
import { contentOf } from '../../owned-fields.ts'
import { isNotForUs, translateTargets } from '../endpoints/for-service.ts'
import { type Content, ownedKind } from '../owned-kind.ts'

const SERVICE_NAME = 'kubernetes.io/service-name'
const MANAGED_BY = 'endpointslice.kubernetes.io/managed-by'
/** Makes slices of Endpoints, on the host as well: their copies would say everything twice. */
const MIRRORING = 'endpointslicemirroring-controller.k8s.io'

/** EndpointSlices cross for Services without selector, and belong to the Service's copy there. */
export const endpointSlices = ownedKind({
  resource: RESOURCES['endpointslices.discovery.k8s.io'],
  version: 1,
  isEnabled: (config) => isEnabled(config, 'toHost', 'endpointSlices') && isEnabled(config, 'toHost', 'services'),
  references: ({ virtual }) => (virtual === undefined ? [] : asList(serviceOf(virtual))),
  followsReferences: ['services'],
  excluded: (virtual, related) =>
    virtual.metadata.labels?.[MANAGED_BY] === MIRRORING || isNotForUs(serviceOf(virtual), related),
  ownsKey: (key) => key === SERVICE_NAME,
  immutable: ['addressType'],
  content,
})

function serviceOf({ metadata }: KubeObject): ObjectRef | undefined {
  const name = asName(metadata.labels?.[SERVICE_NAME])
  return name === undefined ? undefined : { resource: 'services', namespace: metadata.namespace ?? '', name }
}

function content({ virtual, tenant, related }: TranslateInput): Content {
  const fields = cloneJson(contentOf(virtual))
  translateTargets(fields.endpoints, { namespace: virtual.metadata.namespace ?? '', tenant, related })
  const service = serviceOf(virtual)
  const labels = service === undefined ? {} : { [SERVICE_NAME]: hostName(service, tenant.name) }
  return { kind: 'content', fields, extra: { labels } }
}

function asList<T>(value: T | undefined): T[] {
  return value === undefined ? [] : [value]
}
