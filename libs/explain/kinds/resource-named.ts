import { RESOURCES, type ResourceInfo, resourceToken } from '#libs/kube-model'
import { type TenantConfig, customResources } from '#libs/sync-config'
import { customResourceInfo } from '#libs/translation'

/** A kind as people name it, found. */
export type NamedResource = { token: string; info: ResourceInfo }

/** kubectl's short names of what has some. */
const SHORT: Readonly<Record<string, string>> = {
  po: 'pods',
  cm: 'configmaps',
  svc: 'services',
  ep: 'endpoints',
  ev: 'events',
  ns: 'namespaces',
  no: 'nodes',
  pv: 'persistentvolumes',
  pvc: 'persistentvolumeclaims',
  sa: 'serviceaccounts',
  ing: 'ingresses.networking.k8s.io',
  netpol: 'networkpolicies.networking.k8s.io',
  pdb: 'poddisruptionbudgets.policy',
  pc: 'priorityclasses.scheduling.k8s.io',
  sc: 'storageclasses.storage.k8s.io',
  crd: 'customresourcedefinitions.apiextensions.k8s.io',
  crds: 'customresourcedefinitions.apiextensions.k8s.io',
  gtw: 'gateways.gateway.networking.k8s.io',
  gc: 'gatewayclasses.gateway.networking.k8s.io',
  deploy: 'deployments.apps',
  rs: 'replicasets.apps',
  sts: 'statefulsets.apps',
  ds: 'daemonsets.apps',
  cj: 'cronjobs.batch',
  hpa: 'horizontalpodautoscalers.autoscaling',
  quota: 'resourcequotas',
  limits: 'limitranges',
  rc: 'replicationcontrollers',
}

const namespaced = (apiVersion: string, plural: string, kind: string): ResourceInfo => {
  const [group = '', version = ''] = apiVersion.includes('/') ? apiVersion.split('/') : ['', apiVersion]
  return { group, version, plural, kind, namespaced: true }
}

/** Kinds that stay in the tenant and that people ask for all the same: what they make may cross. */
const STAYING: readonly ResourceInfo[] = [
  namespaced('apps/v1', 'deployments', 'Deployment'),
  namespaced('apps/v1', 'replicasets', 'ReplicaSet'),
  namespaced('apps/v1', 'statefulsets', 'StatefulSet'),
  namespaced('apps/v1', 'daemonsets', 'DaemonSet'),
  namespaced('batch/v1', 'jobs', 'Job'),
  namespaced('batch/v1', 'cronjobs', 'CronJob'),
  namespaced('autoscaling/v2', 'horizontalpodautoscalers', 'HorizontalPodAutoscaler'),
  namespaced('rbac.authorization.k8s.io/v1', 'roles', 'Role'),
  namespaced('rbac.authorization.k8s.io/v1', 'rolebindings', 'RoleBinding'),
  namespaced('v1', 'resourcequotas', 'ResourceQuota'),
  namespaced('v1', 'limitranges', 'LimitRange'),
  namespaced('v1', 'replicationcontrollers', 'ReplicationController'),
]

const KNOWN: readonly ResourceInfo[] = [...Object.values(RESOURCES), ...STAYING]

/**
 * The kind that a word names: a token or plural (`deployments.apps`, `pods`), the kind itself in any case (`Pod`), or
 * kubectl's short name (`po`). Custom resources are known by the tenant's configuration.
 * @returns `undefined` for a word that names none
 */
export function resourceNamed(word: string, config?: TenantConfig): NamedResource | undefined {
  const name = word.toLowerCase()
  const wanted = Object.hasOwn(SHORT, name) ? SHORT[name] : name
  const info =
    KNOWN.find((each) => resourceToken(each) === wanted) ??
    KNOWN.find(({ plural, kind }) => plural === wanted || kind.toLowerCase() === wanted)
  if (info !== undefined) return { token: resourceToken(info), info }
  if (config === undefined) return undefined
  const { toHost, fromHost } = customResources(config)
  const custom = [...toHost, ...fromHost].find(
    ({ resource, plural }) => resource === wanted || plural === wanted || isSingular(wanted ?? '', plural),
  )
  return custom === undefined
    ? undefined
    : { token: custom.resource, info: customResourceInfo(custom.resource, custom) }
}

/** `KIND/NAME` taken apart; `undefined` when it is something else. */
export function kindAndName(text: string): { kind: string; name: string } | undefined {
  const [kind, name, ...more] = text.split('/')
  return kind && name && more.length === 0 ? { kind, name } : undefined
}

/** A word and a plural of the common kinds. */
function isSingular(word: string, plural: string): boolean {
  return [`${word}s`, `${word}es`, `${word.replace(/y$/, '')}ies`].includes(plural)
}
