import { cloneJson } from '#libs/kernel'
import type { KubeObject } from '#libs/kube-model'
import { askWebhooks, hasWebhooks } from '../admission/validating-webhooks.ts'
import type { AdmissionAttributes } from '../admission/webhook.ts'
import { ApiError } from '../api-error.ts'
import { createObject } from '../registry/create.ts'
import type { CreateTarget } from '../registry/create.ts'
import { deleteObject } from '../registry/delete.ts'
import type { DeleteRequest, DeleteResult } from '../registry/delete.ts'
import { requireObject, updateObject } from '../registry/update.ts'
import type { ObjectTarget, UpdateRequest } from '../registry/update.ts'
import type { ResourceRequest } from './resource-request.ts'

/*
 * Writes of clients, after the cluster's webhooks have agreed. The registry writes at once, webhooks take their time: so
 * they are shown what a dry run would store, and are asked again when the object has changed meanwhile.
 */

const TRIES = 5

type Asked = Pick<AdmissionAttributes, 'operation' | 'namespace' | 'name' | 'object' | 'oldObject' | 'options'>

async function ask(request: ResourceRequest, asked: Asked, dryRun: boolean): Promise<void> {
  const { cluster, exchange, resource, subresource, user } = request
  const warnings = await askWebhooks(cluster, { ...asked, resource, subresource, user, dryRun })
  for (const warning of warnings) exchange.warn(warning)
}

/** Creates as `createObject` does. @throws ApiError */
export async function admittedCreate(
  request: ResourceRequest,
  target: CreateTarget,
  creation: Parameters<typeof createObject>[2],
): Promise<KubeObject> {
  const { cluster } = request
  if (!hasWebhooks(cluster)) return createObject(cluster, target, creation)
  const { object: asked, options } = creation
  const preview = createObject(cluster, target, { object: cloneJson(asked), options: { ...options, dryRun: true } })
  const { name = '' } = preview.metadata
  const attributes = { operation: 'CREATE', options: 'CreateOptions', object: preview, oldObject: undefined } as const
  await ask(request, { ...attributes, namespace: target.namespace, name }, options.dryRun === true)
  // A generated name is the one that they were asked about.
  asked.metadata.name = name
  return createObject(cluster, target, creation)
}

/** Updates as `updateObject` does. @throws ApiError */
export async function admittedUpdate(
  request: ResourceRequest,
  target: ObjectTarget,
  update: UpdateRequest,
): Promise<KubeObject> {
  const { cluster } = request
  const { namespace, name } = target
  if (!hasWebhooks(cluster)) return updateObject(cluster, target, update)
  for (let tries = 0; tries < TRIES; tries++) {
    const { object: oldObject, revision } = requireObject(cluster, target)
    const preview = updateObject(cluster, target, {
      ...update,
      produce: (current) => cloneJson(update.produce(current)),
      options: { ...update.options, dryRun: true },
    })
    const options = update.isPatch === true ? 'PatchOptions' : 'UpdateOptions'
    const attributes = { operation: 'UPDATE', options, namespace, name, object: preview, oldObject } as const
    await ask(request, attributes, update.options.dryRun === true)
    if (requireObject(cluster, target).revision === revision) return updateObject(cluster, target, update)
  }
  throw ApiError.staleVersion(target.resource, name)
}

/** Deletes as `deleteObject` does. @throws ApiError */
export async function admittedDelete(
  request: ResourceRequest,
  target: ObjectTarget,
  deletion: DeleteRequest,
): Promise<DeleteResult> {
  const { cluster } = request
  if (!hasWebhooks(cluster)) return deleteObject(cluster, target, deletion)
  const { object: oldObject } = requireObject(cluster, target)
  const { namespace, name } = target
  const attributes = { operation: 'DELETE', options: 'DeleteOptions', object: undefined, oldObject } as const
  await ask(request, { ...attributes, namespace, name }, deletion.dryRun === true)
  return deleteObject(cluster, target, deletion)
}
