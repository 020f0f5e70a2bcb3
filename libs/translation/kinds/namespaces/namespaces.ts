import { RESOURCES } from '#libs/kube-model'
import { isEnabled } from '#libs/sync-config'
import { stringMap } from '../../json.ts'
import type { TranslateInput } from '../../kind.ts'
import { hostRefOf } from '../../names.ts'
import type { TenantContext } from '../../view.ts'
import { type Content, ownedKind } from '../owned-kind.ts'

/** The label by which the API lets everybody select a namespace by its name. */
const NAME_LABEL = 'kubernetes.io/metadata.name'
/** By such keys a namespace tells Kubernetes what is allowed in it: on the host, that is the operator's to say. */
const OPERATORS = /(^|\.)(kubernetes\.io|k8s\.io|openshift\.io|istio\.io)\//

/**
 * Each of the tenant's namespaces has one of its own on the host, in which the copies of what is in it are. Where another
 * object has that name, nothing of the namespace crosses.
 */
export const namespaces = ownedKind({
  resource: RESOURCES.namespaces,
  version: 2,
  isEnabled: (config) => isEnabled(config, 'toHost', 'namespaces'),
  endsWithOriginal: true,
  ownsKey: (key, tenant) => OPERATORS.test(key) || Object.hasOwn(extraLabels(tenant), key),
  addedKeys: (tenant) => Object.keys(extraLabels(tenant)),
  // Finalizers in its spec are for the cluster that it is in.
  hostFields: ['spec'],
  content,
})

function content({ virtual, host, tenant }: TranslateInput & { host?: TranslateInput['virtual'] }): Content {
  const name = virtual.metadata.name ?? ''
  const labels = {
    ...operatorsOf(host?.metadata.labels),
    ...extraLabels(tenant),
    [NAME_LABEL]: hostRefOf({ resource: 'namespaces', namespace: '', name }, tenant).name,
  }
  return { kind: 'content', fields: {}, extra: { labels, annotations: operatorsOf(host?.metadata.annotations) } }
}

/** What the host's operator has put on it stays. */
function operatorsOf(map: unknown): Record<string, string> {
  return Object.fromEntries(Object.entries(stringMap(map)).filter(([key]) => OPERATORS.test(key)))
}

function extraLabels({ config }: TenantContext): Record<string, string> {
  return { ...config.sync.toHost.namespaces.extraLabels }
}
