import { cloneJson } from '#libs/kernel'
import type { KubeObject } from '#libs/kube-model'
import { ApiError } from '../api-error.ts'
import { isReadyPod } from '../controllers/pods.ts'
import type { Pod } from '../controllers/pods.ts'
import { matchesSelector } from '../controllers/label-selector.ts'
import type { LabelSelector } from '../controllers/label-selector.ts'
import { disruptionCondition } from '../controllers/disruption.ts'
import type { DisruptionBudget } from '../controllers/disruption.ts'
import type { Cluster } from './cluster.ts'
import { timestamp } from './cluster.ts'

const BUDGETS = 'poddisruptionbudgets.policy'
const REFUSAL = "Cannot evict pod as it would violate the pod's disruption budget."
/** While a budget is not counted yet, clients are to come again after this time. */
const RETRY_SECONDS = 10

/**
 * Takes the eviction of a pod off the budgets that guard it.
 * @throws ApiError 429 when they do not allow it now
 */
export function bookEviction(cluster: Cluster, pod: KubeObject, dryRun: boolean): void {
  if (needsNoBudget(pod)) return
  const budgets = cluster.store
    .list(BUDGETS, pod.metadata.namespace ?? '')
    .map(({ object }) => object as DisruptionBudget)
    .filter((budget) => guards(budget, pod))
  const [budget, ...more] = budgets
  if (budget === undefined) return
  if (more.length > 0) {
    throw ApiError.internal(
      'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.',
    )
  }
  if (mayGoUnhealthy(budget, pod)) return
  requireRoom(budget)
  if (!dryRun) book(cluster, budget, pod)
}

function needsNoBudget(pod: KubeObject): boolean {
  const { phase = 'Pending' } = (pod['status'] ?? {}) as { phase?: string }
  return pod.metadata.deletionTimestamp !== undefined || ['Succeeded', 'Failed', 'Pending'].includes(phase)
}

function guards({ spec }: DisruptionBudget, { metadata }: KubeObject): boolean {
  const selector: LabelSelector | undefined = spec?.selector
  return selector !== undefined && matchesSelector(selector, metadata.labels)
}

/** A pod that is not ready does no work that a budget would protect. */
function mayGoUnhealthy({ spec, status }: DisruptionBudget, pod: KubeObject): boolean {
  if (isReadyPod(pod as Pod)) return false
  if (spec?.unhealthyPodEvictionPolicy === 'AlwaysAllow') return true
  const { currentHealthy = 0, desiredHealthy = 0 } = status ?? {}
  return desiredHealthy > 0 && currentHealthy >= desiredHealthy
}

function requireRoom({ metadata, status = {} }: DisruptionBudget): void {
  const name = metadata.name ?? ''
  const refuse = (message: string, retryAfter?: number): ApiError =>
    ApiError.tooManyRequests(REFUSAL, {
      causes: [{ reason: 'DisruptionBudget', message }],
      ...(retryAfter === undefined ? {} : { retryAfter }),
    })
  if ((status.observedGeneration ?? 0) < (metadata.generation ?? 0)) {
    throw refuse(`The disruption budget ${name} is still being processed by the server.`, RETRY_SECONDS)
  }
  if ((status.disruptionsAllowed ?? 0) > 0) return
  const { desiredHealthy = 0, currentHealthy = 0 } = status
  throw refuse(`The disruption budget ${name} needs ${desiredHealthy} healthy pods and has ${currentHealthy} currently`)
}

function book(cluster: Cluster, budget: DisruptionBudget, pod: KubeObject): void {
  const now = timestamp(cluster)
  const { name = '', namespace = '' } = budget.metadata
  const object = cloneJson(budget)
  const status = (object.status ??= {})
  status.disruptionsAllowed = (status.disruptionsAllowed ?? 0) - 1
  status.disruptedPods = { ...status.disruptedPods, [pod.metadata.name ?? '']: now }
  if (status.disruptionsAllowed === 0) status.conditions = [disruptionCondition(budget, false, now)]
  cluster.store.write({ type: 'MODIFIED', resource: BUDGETS, namespace, name, object })
}
