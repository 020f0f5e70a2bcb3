import type { KubeObject } from '#libs/kube-model'
import { ApiError } from '../api-error.ts'
import type { Status } from '../api-error.ts'
import type { Cluster } from '../registry/cluster.ts'
import { WebhookCallError, callWebhook } from './call-webhook.ts'
import type { AdmissionResponse } from './call-webhook.ts'
import { CONFIGURATIONS, isConcerned, requestOf } from './webhook.ts'
import type { AdmissionAttributes, Webhook } from './webhook.ts'

/** Their own configurations are not theirs to guard: a wrong one could not be taken back. */
const EXEMPT_GROUP = 'admissionregistration.k8s.io'

/** Whether the cluster has any webhooks at all; most have none. */
export function hasWebhooks(cluster: Cluster): boolean {
  return cluster.store.list(CONFIGURATIONS).length > 0
}

/**
 * Asks all webhooks that are concerned about a write, at once.
 * @returns warnings for the client
 * @throws ApiError when one refuses it, or cannot be asked and fails by its policy
 */
export async function askWebhooks(cluster: Cluster, write: AdmissionAttributes): Promise<string[]> {
  if (write.resource.group === EXEMPT_GROUP) return []
  const namespace = cluster.store.get('namespaces', '', write.namespace)?.object
  const webhooks = cluster.store
    .list(CONFIGURATIONS)
    .flatMap(({ object }) => ((object as KubeObject & { webhooks?: Webhook[] }).webhooks ?? []) as Webhook[])
    .filter((webhook) => isConcerned(webhook, write, namespace))
  const answers = await Promise.allSettled(webhooks.map((webhook) => ask(cluster, webhook, write)))
  const failed = answers.find((answer) => answer.status === 'rejected')
  if (failed !== undefined) throw failed.reason as Error
  return answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
}

async function ask(cluster: Cluster, webhook: Webhook, write: AdmissionAttributes): Promise<string[]> {
  if (write.dryRun && webhook.sideEffects !== 'None' && webhook.sideEffects !== 'NoneOnDryRun') {
    throw ApiError.badRequest(`admission webhook ${JSON.stringify(webhook.name)} does not support dry run`)
  }
  let response: AdmissionResponse
  try {
    response = await callWebhook(webhook, { uid: cluster.newUid(), ...requestOf(write) })
  } catch (error) {
    if (!(error instanceof WebhookCallError)) throw error
    if (webhook.failurePolicy === 'Ignore') return []
    throw callFailed(`failed calling webhook ${JSON.stringify(webhook.name)}: ${error.message}`)
  }
  if (response.allowed === true) return response.warnings ?? []
  throw denied(webhook.name, response.status ?? {})
}

function callFailed(text: string): ApiError {
  return new ApiError({
    code: 500,
    reason: 'InternalError',
    message: `Internal error occurred: ${text}`,
    details: { causes: [{ message: text }] },
  })
}

function denied(name: string, status: NonNullable<AdmissionResponse['status']>): ApiError {
  const start = `admission webhook ${JSON.stringify(name)} denied the request`
  const { code = 400, reason } = status
  const explanation = status.message || reason
  return new ApiError({
    code: code < 400 ? 400 : code,
    ...(reason === undefined ? {} : { reason }),
    message: explanation ? `${start}: ${explanation}` : `${start} without explanation`,
    ...(status.details === undefined ? {} : { details: status.details as NonNullable<Status['details']> }),
  })
}
