import { jsonEqual } from '#libs/kernel'
import { type KubeClient, isNotFound } from '#libs/kube'
import { type KubeObject, RESOURCES } from '#libs/kube-model'
import { hostName } from '#libs/translation'

type PodStatus = { phase?: string; podIP?: string; conditions?: { type: string; status: string }[] }

/** One tenant as the check needs it. */
export type CheckedTenant = { name: string; hostNamespace: string; client: KubeClient }

/**
 * What is not as it should be yet: every pod of the tenant runs, has a host copy under its translated name, and shows
 * the node, the address and the conditions that the host says; every ConfigMap and Secret of the sample is on the host.
 * @returns one sentence per object; empty when all is well
 */
export async function checkTenant(
  tenant: CheckedTenant,
  host: KubeClient,
  sample: readonly KubeObject[],
): Promise<string[]> {
  const { items: pods } = await tenant.client.listPage(RESOURCES.pods)
  const wanted = sample.filter((object) => object.kind === 'Pod')
  const missing = wanted
    .filter((pod) => !pods.some((found) => sameName(found, pod)))
    .map((pod) => `${tenant.name}: pod ${pod.metadata.name} is not there`)
  const replicas = sample.flatMap((object) => {
    if (object.kind !== 'Deployment') return []
    const { replicas: count = 1 } = object.spec as { replicas?: number }
    const found = pods.filter((pod) => pod.metadata.name?.startsWith(`${object.metadata.name}-`)).length
    return found >= count ? [] : [`${tenant.name}: deployment ${object.metadata.name} has ${found} of ${count} pods`]
  })
  const used = sample.filter((object) => object.kind === 'ConfigMap' || object.kind === 'Secret')
  const [podProblems, usedProblems] = await Promise.all([
    Promise.all(pods.map((pod) => checkPod(tenant, host, pod))),
    Promise.all(used.map((object) => checkCopy(tenant, host, object))),
  ])
  return [...missing, ...replicas, ...podProblems.flat(), ...usedProblems.flat()]
}

async function checkPod(tenant: CheckedTenant, host: KubeClient, pod: KubeObject): Promise<string[]> {
  const where = `${tenant.name}: pod ${pod.metadata.namespace}/${pod.metadata.name}`
  const copy = await read(host, tenant, 'pods', pod)
  if (copy === undefined) return [`${where} has no copy on the host`]
  const [virtual, real] = [pod, copy].map((object) => object.status as PodStatus | undefined)
  if (virtual?.phase !== 'Running' && virtual?.phase !== 'Succeeded')
    return [`${where} is ${virtual?.phase ?? 'unknown'}`]
  const differing = [
    virtual.phase === real?.phase ? '' : 'phase',
    virtual.podIP === real?.podIP ? '' : 'podIP',
    nodeOf(pod) === nodeOf(copy) ? '' : 'node',
    jsonEqual(conditionsOf(virtual), conditionsOf(real)) ? '' : 'conditions',
  ].filter((field) => field !== '')
  return differing.length === 0 ? [] : [`${where} differs from its host copy in ${differing.join(', ')}`]
}

async function checkCopy(tenant: CheckedTenant, host: KubeClient, object: KubeObject): Promise<string[]> {
  const resource = object.kind === 'Secret' ? 'secrets' : 'configmaps'
  const copy = await read(host, tenant, resource, object)
  return copy === undefined ? [`${tenant.name}: ${object.kind} ${object.metadata.name} has no copy on the host`] : []
}

async function read(
  host: KubeClient,
  tenant: CheckedTenant,
  resource: 'pods' | 'configmaps' | 'secrets',
  object: KubeObject,
): Promise<KubeObject | undefined> {
  const { namespace = '', name = '' } = object.metadata
  try {
    return await host.get(RESOURCES[resource], {
      namespace: tenant.hostNamespace,
      name: hostName({ namespace, name }, tenant.name),
    })
  } catch (error) {
    if (isNotFound(error)) return undefined
    throw error
  }
}

function sameName(a: KubeObject, b: KubeObject): boolean {
  return a.metadata.name === b.metadata.name && a.metadata.namespace === b.metadata.namespace
}

function nodeOf(pod: KubeObject): string | undefined {
  return (pod.spec as { nodeName?: string } | undefined)?.nodeName
}

function conditionsOf(status: PodStatus | undefined): Record<string, string> {
  return Object.fromEntries((status?.conditions ?? []).map(({ type, status: value }) => [type, value]))
}
