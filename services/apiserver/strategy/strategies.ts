import { DEFINITIONS } from '../custom-resources/definition.ts'
import { DEFINITION_RULES } from '../custom-resources/definition-rules.ts'
import { resourceByToken } from '../discovery/resources.ts'
import {
  CLAIM_RULES,
  EVENT_RULES,
  LEASE_RULES,
  NAMESPACE_RULES,
  NODE_RULES,
  PERSISTENT_VOLUME_RULES,
  PRIORITY_CLASS_RULES,
  STORAGE_CLASS_RULES,
} from './cluster-rules.ts'
import { CONFIG_MAP_RULES, SECRET_RULES } from './config-rules.ts'
import { createStrategy } from './create-strategy.ts'
import {
  DISRUPTION_BUDGET_RULES,
  ENDPOINTS_RULES,
  ENDPOINT_SLICE_RULES,
  INGRESS_RULES,
  NETWORK_POLICY_RULES,
  ROLE_BINDING_RULES,
  ROLE_RULES,
} from './network-rules.ts'
import { EPHEMERAL_CONTAINER_RULES, RESIZE_RULES } from './pod-part-rules.ts'
import { POD_RULES } from './pod-rules.ts'
import { SERVICE_RULES } from './service-rules.ts'
import type { KindRules, Strategy } from './strategy.ts'
import {
  CONTROLLER_REVISION_RULES,
  CRON_JOB_RULES,
  DAEMON_SET_RULES,
  DEPLOYMENT_RULES,
  JOB_RULES,
  REPLICA_SET_RULES,
  STATEFUL_SET_RULES,
} from './workload-rules.ts'

const COUNTED: KindRules = { hasGeneration: true }

const RULES: Record<string, KindRules> = {
  pods: POD_RULES,
  'pods/ephemeralcontainers': EPHEMERAL_CONTAINER_RULES,
  'pods/resize': RESIZE_RULES,
  services: SERVICE_RULES,
  configmaps: CONFIG_MAP_RULES,
  secrets: SECRET_RULES,
  namespaces: NAMESPACE_RULES,
  nodes: NODE_RULES,
  events: EVENT_RULES,
  endpoints: ENDPOINTS_RULES,
  persistentvolumes: PERSISTENT_VOLUME_RULES,
  persistentvolumeclaims: CLAIM_RULES,
  replicationcontrollers: COUNTED,
  'deployments.apps': DEPLOYMENT_RULES,
  'replicasets.apps': REPLICA_SET_RULES,
  'statefulsets.apps': STATEFUL_SET_RULES,
  'daemonsets.apps': DAEMON_SET_RULES,
  'controllerrevisions.apps': CONTROLLER_REVISION_RULES,
  'jobs.batch': JOB_RULES,
  'cronjobs.batch': CRON_JOB_RULES,
  'leases.coordination.k8s.io': LEASE_RULES,
  'endpointslices.discovery.k8s.io': ENDPOINT_SLICE_RULES,
  'networkpolicies.networking.k8s.io': NETWORK_POLICY_RULES,
  'ingresses.networking.k8s.io': INGRESS_RULES,
  'ingressclasses.networking.k8s.io': COUNTED,
  'poddisruptionbudgets.policy': DISRUPTION_BUDGET_RULES,
  'roles.rbac.authorization.k8s.io': ROLE_RULES,
  'clusterroles.rbac.authorization.k8s.io': ROLE_RULES,
  'rolebindings.rbac.authorization.k8s.io': ROLE_BINDING_RULES,
  'clusterrolebindings.rbac.authorization.k8s.io': ROLE_BINDING_RULES,
  'priorityclasses.scheduling.k8s.io': PRIORITY_CLASS_RULES,
  'storageclasses.storage.k8s.io': STORAGE_CLASS_RULES,
  [DEFINITIONS]: DEFINITION_RULES,
  'flowschemas.flowcontrol.apiserver.k8s.io': COUNTED,
  'prioritylevelconfigurations.flowcontrol.apiserver.k8s.io': COUNTED,
  'mutatingwebhookconfigurations.admissionregistration.k8s.io': COUNTED,
  'validatingwebhookconfigurations.admissionregistration.k8s.io': COUNTED,
  'validatingadmissionpolicies.admissionregistration.k8s.io': COUNTED,
  'validatingadmissionpolicybindings.admissionregistration.k8s.io': COUNTED,
  'mutatingadmissionpolicies.admissionregistration.k8s.io': COUNTED,
  'mutatingadmissionpolicybindings.admissionregistration.k8s.io': COUNTED,
}

const strategies = new Map<string, Strategy>()

/**
 * The strategy of a resource, by its token, or of a part of it such as `pods/resize`. Resources without rules of their
 * own get the common ones.
 */
export function strategyFor(resourceToken: string): Strategy {
  const known = strategies.get(resourceToken)
  if (known !== undefined) return known
  const [token = ''] = resourceToken.split('/')
  const resource = resourceByToken(token)
  const strategy = createStrategy({
    gvk: resource ?? { group: '', version: '', kind: '' },
    hasStatus: resource?.subresources?.some(({ name }) => name === 'status') ?? false,
    rules: RULES[resourceToken] ?? {},
  })
  strategies.set(resourceToken, strategy)
  return strategy
}
