import type { KubeObject } from '#libs/kube-model'
import { REVISION_LABEL } from './controller-revisions.ts'
import { resolveCount } from './deployment.ts'
import type { LabelSelector } from './label-selector.ts'
import { nodeFit } from './node-fit.ts'
import { isAvailablePod, isFinishedPod, isReadyPod } from './pods.ts'
import type { Pod, PodTemplate } from './pods.ts'
import { podFromTemplate, positive } from './replica-set.ts'

export type DaemonSet = KubeObject & {
  spec?: {
    minReadySeconds?: number
    selector?: LabelSelector
    template?: PodTemplate
    updateStrategy?: { type?: string; rollingUpdate?: { maxUnavailable?: number | string } }
  }
  status?: Record<string, unknown>
}

const TOLERATIONS = [
  { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute' },
  { key: 'node.kubernetes.io/unreachable', operator: 'Exists', effect: 'NoExecute' },
  ...['disk-pressure', 'memory-pressure', 'pid-pressure', 'unschedulable'].map((name) => ({
    key: `node.kubernetes.io/${name}`,
    operator: 'Exists',
    effect: 'NoSchedule',
  })),
]

/** The template with what every daemon bears. */
function daemonSpec(template: PodTemplate): Record<string, unknown> {
  const own = (template.spec?.['tolerations'] ?? []) as object[]
  return { ...template.spec, tolerations: [...own, ...TOLERATIONS] }
}

export type DaemonPlan = { create: string[]; delete: Pod[] }

/** What a daemon's pods are planned from. */
export type DaemonState = { nodes: readonly KubeObject[]; pods: readonly Pod[]; revision: string; nowMs: number }

/** The node that a pod is for, be it placed or not. */
export function nodeOf(pod: Pod): string {
  if (pod.spec?.nodeName) return pod.spec.nodeName
  const { affinity } = (pod.spec ?? {}) as {
    affinity?: {
      nodeAffinity?: {
        requiredDuringSchedulingIgnoredDuringExecution?: {
          nodeSelectorTerms?: { matchFields?: { key: string; values?: string[] }[] }[]
        }
      }
    }
  }
  const [term] = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? []
  return term?.matchFields?.find(({ key }) => key === 'metadata.name')?.values?.[0] ?? ''
}

/** One pod on every node that fits; those of former revisions make room as far as the update strategy allows. */
export function planDaemons(set: DaemonSet, state: DaemonState): DaemonPlan {
  const plan: DaemonPlan = { create: [], delete: [] }
  const spec = daemonSpec(set.spec?.template ?? {})
  const isGoing = (pod: Pod): boolean => pod.metadata.deletionTimestamp !== undefined
  const placed = podsByNode(state.pods)
  const current: Pod[] = []
  const fits = new Map(state.nodes.map((node) => [node.metadata.name ?? '', nodeFit(spec, node)]))
  for (const [node, fit] of fits) {
    const here = placed.get(node) ?? []
    if (fit === 'no') plan.delete.push(...here.filter((pod) => !isGoing(pod)))
    else if (here.length === 0 && fit === 'yes') plan.create.push(node)
    else {
      const [kept, ...more] = here.filter((pod) => !isFinishedPod(pod) && !isGoing(pod))
      plan.delete.push(...more, ...here.filter((pod) => isFinishedPod(pod) && !isGoing(pod)))
      if (kept !== undefined) current.push(kept)
    }
  }
  for (const [node, here] of placed) if (!fits.has(node)) plan.delete.push(...here.filter((pod) => !isGoing(pod)))
  const desired = [...fits.values()].filter((fit) => fit === 'yes').length
  plan.delete.push(...outdated(set, { current, desired, state }))
  return plan
}

function outdated(set: DaemonSet, view: { current: readonly Pod[]; desired: number; state: DaemonState }): Pod[] {
  const { current, desired, state } = view
  const { type = 'RollingUpdate', rollingUpdate } = set.spec?.updateStrategy ?? {}
  if (type !== 'RollingUpdate') return []
  const isAvailable = (pod: Pod): boolean => isAvailablePod(pod, set.spec?.minReadySeconds ?? 0, state.nowMs)
  const old = current.filter((pod) => pod.metadata.labels?.[REVISION_LABEL] !== state.revision)
  const broken = old.filter((pod) => !isAvailable(pod))
  const missing = desired - current.filter(isAvailable).length
  const allowed = Math.max(1, resolveCount(rollingUpdate?.maxUnavailable ?? 1, desired, Math.ceil))
  return [...broken, ...old.filter(isAvailable).slice(0, Math.max(0, allowed - missing))]
}

function podsByNode(pods: readonly Pod[]): Map<string, Pod[]> {
  const placed = new Map<string, Pod[]>()
  for (const pod of pods) placed.set(nodeOf(pod), [...(placed.get(nodeOf(pod)) ?? []), pod])
  return placed
}

/** The pod for a node; the scheduler can place it only there. */
export function daemonPod(set: DaemonSet, node: string, made: { revision: string; random: () => number }): Pod {
  const template = set.spec?.template ?? {}
  const generation = set.metadata.annotations?.['deprecated.daemonset.template.generation'] ?? '1'
  const labels = {
    ...template.metadata?.labels,
    [REVISION_LABEL]: made.revision,
    'pod-template-generation': generation,
  }
  const affinity = (template.spec?.['affinity'] ?? {}) as { nodeAffinity?: object }
  const required = { nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: [node] }] }] }
  const nodeAffinity = { ...affinity.nodeAffinity, requiredDuringSchedulingIgnoredDuringExecution: required }
  const spec = { ...daemonSpec(template), affinity: { ...affinity, nodeAffinity } }
  const options = { apiVersion: 'apps/v1', kind: 'DaemonSet', random: made.random }
  return podFromTemplate(set, { ...template, metadata: { ...template.metadata, labels }, spec }, options)
}

/** The status that tells of these pods. */
export function daemonStatus(set: DaemonSet, state: DaemonState): Record<string, unknown> {
  const spec = daemonSpec(set.spec?.template ?? {})
  const placed = podsByNode(state.pods.filter(({ metadata }) => metadata.deletionTimestamp === undefined))
  const wanted = state.nodes.filter((node) => nodeFit(spec, node) === 'yes')
  const scheduled = wanted.flatMap((node) => (placed.get(node.metadata.name ?? '') ?? []).slice(0, 1))
  const unwanted = state.nodes.filter((node) => nodeFit(spec, node) === 'no')
  const count = (predicate: (pod: Pod) => boolean): number => scheduled.filter(predicate).length
  const available = count((pod) => isAvailablePod(pod, set.spec?.minReadySeconds ?? 0, state.nowMs))
  return {
    currentNumberScheduled: scheduled.length,
    numberMisscheduled: unwanted.filter((node) => placed.has(node.metadata.name ?? '')).length,
    desiredNumberScheduled: wanted.length,
    numberReady: count(isReadyPod),
    observedGeneration: set.metadata.generation ?? 0,
    ...positive(
      'updatedNumberScheduled',
      count((pod) => pod.metadata.labels?.[REVISION_LABEL] === state.revision),
    ),
    ...positive('numberAvailable', available),
    ...positive('numberUnavailable', wanted.length - available),
  }
}
