import { setTimeout as sleep } from 'node:timers/promises'
import { isAlreadyExists } from '#libs/kube'
import { type KubeObject, RESOURCES } from '#libs/kube-model'
import type { Call } from './execute.ts'
import { isAbsent } from './classify.ts'

/** How long the tenant's controllers have to notice that a Service is gone, where there are any. */
const NOTICE_MS = 1_000
const POLL_MS = 20
/** With more than this the note on the copy might outgrow what an object may carry. */
const NOTED_BYTES = 100_000

type TenantCall = Pick<Call, 'client' | 'options' | 'intent'>

/**
 * The Endpoints of a tenant's Service that is about to be made anew, where nobody would make them again: those of a
 * Service without selector. Controllers delete them with the Service.
 * @returns them as they are to be created
 */
export async function ownEndpoints(service: KubeObject, call: TenantCall): Promise<KubeObject | undefined> {
  const { selector, type } = (service['spec'] ?? {}) as { selector?: object; type?: string }
  if (type === 'ExternalName' || Object.keys(selector ?? {}).length > 0) return undefined
  const found = await endpointsOf(call)
  if (found === undefined) return undefined
  const { name, namespace, labels, annotations } = found.metadata
  const metadata = { name, namespace, ...(labels && { labels }), ...(annotations && { annotations }) }
  const { status: _status, ...fields } = found
  return { ...fields, metadata } as KubeObject
}

/** Whether they can be noted on the host copy, from where they are brought back after a crash. */
export function areNotable(endpoints: KubeObject): boolean {
  return Buffer.byteLength(JSON.stringify(endpoints)) <= NOTED_BYTES
}

/** Waits until controllers have deleted the Endpoints of a Service that is gone, or seem not to be about to. */
export async function untilNoticed(call: TenantCall): Promise<void> {
  const deadline = Date.now() + NOTICE_MS
  while ((await endpointsOf(call)) !== undefined && Date.now() < deadline) await sleep(POLL_MS)
}

/** Brings Endpoints back, unless some are there again. */
export async function restoreEndpoints(endpoints: KubeObject, { client, options, intent }: TenantCall): Promise<void> {
  try {
    await client.create(RESOURCES.endpoints, { namespace: intent.target.namespace }, endpoints, options)
  } catch (error) {
    if (!isAlreadyExists(error)) throw error
  }
}

async function endpointsOf({ client, options, intent }: TenantCall): Promise<KubeObject | undefined> {
  try {
    return await client.get(RESOURCES.endpoints, intent.target, options)
  } catch (error) {
    if (isAbsent(error)) return undefined
    throw error
  }
}
